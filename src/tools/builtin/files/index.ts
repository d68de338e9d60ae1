export { fileTools } from './file-tools.ts'
