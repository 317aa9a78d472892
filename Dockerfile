# Tern as an image: docker build -t tern . && docker run -p 8081:8081 -v tern:/data tern --network mainnet
# API v3 needs a PostgreSQL besides (--database-url): compose.yaml has one.
FROM node:22-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:22-slim
# Memory that threads gave back is used by others, instead of being kept for each; large blocks go back to the system at once.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    TERN_LISTEN=0.0.0.0:8081 \
    TERN_DATA=/data
WORKDIR /app
# Without src/, bin/tern.js runs the build.
COPY --from=build /src/package.json /src/LICENSE /src/CHANGELOG.md ./
COPY --from=build /src/node_modules ./node_modules
COPY --from=build /src/bin ./bin
COPY --from=build /src/data ./data
COPY --from=build /src/dist ./dist
COPY --from=build /src/docs ./docs
COPY --from=build /src/migrations ./migrations
RUN ln -s /app/bin/tern.js /usr/local/bin/tern && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8081
# Ready means that liteservers answer and the newest block is proven.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8081/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/bin/tern.js", "serve"]
