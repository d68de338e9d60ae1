export { type ChannelDependencies, channelRoutes } from './channel-routes.ts'
