/** Lets the page load from and talk to this server only. Swagger UI sets styles on elements. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/**
 * The page of the interactive reference.
 *
 * @param base from the page's own path to what lies under the prefix: empty when the path ends in `/`, else `v2/`
 */
export function docsPage(title: string, base: string): string {
  const at = escapeHtml(base);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/png" href="${at}docs/favicon-32x32.png">
<link rel="stylesheet" href="${at}docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui" data-document="${at}openapi.json"></div>
<noscript>The document of this API is <a href="${at}openapi.json">openapi.json</a>.</noscript>
<script src="${at}docs/swagger-ui-bundle.js"></script>
<script src="${at}docs/init.js"></script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
