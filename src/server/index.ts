export { createServer } from './create-server.ts'
export { readLocalToken } from './http/index.ts'
export type {
  ListenSettings,
  LocalToken,
  ServedDemo,
  ServedKernel,
  ServedModels,
  Server,
  ServerAddress,
  ServerLog,
  ServerOptions,
} from './server-options.ts'
export { baseUrl, serverSettings } from './server-settings.ts'
