export type { ContractCase } from './contract-case.ts'
export { FakeClock } from './fake-clock.ts'
export { gate, type HandGate } from './gate.ts'
export type {
  GatedChunk,
  GatedEnd,
  GatedEnding,
  GatedExchange,
  GatedReply,
  GatedRequest,
  PlainChunk,
  SseEvent,
} from './gated-exchange.ts'
export { type GatedServer, gatedServer } from './gated-server.ts'
export { type ModelBehaviour, modelContract } from './model-contract.ts'
export {
  type ScriptedCall,
  type ScriptedFault,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedStep,
  type ScriptedStepSource,
} from './scripted-model.ts'
export { sequentialIds } from './sequential-ids.ts'
export { type StoreUnderTest, storeContract } from './store-cases/store-contract.ts'
export { type ToolExamples, toolContract } from './tool-contract.ts'
