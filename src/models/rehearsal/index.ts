export { rehearsalModel } from './rehearsal-model.ts'
