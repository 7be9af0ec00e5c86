# The string form puts a shell in front, which does not pass signals on.
cat >Dockerfile <<'END'
FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
USER node
CMD npm start
END
hadolint --failure-threshold warning Dockerfile
