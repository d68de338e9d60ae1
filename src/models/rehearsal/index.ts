export { type RehearsalOptions, rehearsalModel } from './rehearsal-model.ts'
