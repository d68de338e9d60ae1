export { chatParameters } from './chat-parameters.ts'
export { type OpenAiDependencies, openaiRoutes } from './openai-routes.ts'
export { type ParameterTable, parameterRows } from './parameters.ts'
export { responseParameters } from './response-parameters.ts'
