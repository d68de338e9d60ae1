export { type AnthropicRoutesOptions, anthropicRoutes } from './routes.ts'
