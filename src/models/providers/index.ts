export { providerModel } from './provider-model.ts'
