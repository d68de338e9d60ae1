export { type RestDependencies, restRoutes } from './rest-routes.ts'
