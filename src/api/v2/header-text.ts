/** A text as the value of a header: printable ASCII, not long. */
export function headerText(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200);
}
