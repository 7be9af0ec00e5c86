# A linter for container files finds nothing in the form that makes node the main process.
cat >Dockerfile <<'END'
FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
USER node
CMD ["node", "server.js"]
END
hadolint --failure-threshold warning Dockerfile
