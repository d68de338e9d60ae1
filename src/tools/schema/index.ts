export { schemaProblem } from './schema-problem.ts'
export { schemaValidator } from './schema-validator.ts'
