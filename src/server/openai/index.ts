export { openaiRoutes } from './openai-routes.ts'
