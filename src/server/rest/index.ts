export type { ModelConnections, ModelOffer } from './model-routes.ts'
export { type RestDependencies, restRoutes } from './rest-routes.ts'
export type { Demonstration } from './status-routes.ts'
