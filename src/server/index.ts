export { createServer } from './create-server.ts'
export type {
  ListenSettings,
  LocalToken,
  ServedDemo,
  ServedKernel,
  Server,
  ServerAddress,
  ServerLog,
  ServerOptions,
} from './server-options.ts'
export { baseUrl, serverSettings } from './server-settings.ts'
