export { type RestDependencies, restRoutes } from './rest-routes.ts'
export type { Demonstration, ModelOffer } from './status-routes.ts'
