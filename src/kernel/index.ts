export { createBus, type RunningBus } from './bus/create-bus.ts'
export { kernelEvents } from './bus/event-names.ts'
export { type DeadLetter, listDeadLetters, listEvents, retryDeadLetter, type StoredEvent } from './bus/stored-events.ts'
export type { Bus, ExtensionManifest, FoundExtension, LoadedExtension, OpenedExtension, Router, SupervisorPort } from './kernel-types.ts'
