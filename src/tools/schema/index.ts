export { schemaValidator } from './schema-validator.ts'
