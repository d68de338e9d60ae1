// What the process of an extension can cost the kernel.
import { defaultSandboxPolicy, type SandboxPolicy } from '../../contracts/index.ts'
import type { ExtensionMethod } from './runner/wire.ts'

/** Calls without an answer, also those that nobody waits for any more. */
export const maxOpenCalls = 64
/** Requests and notifications. Above these two, the process is read more slowly: it waits, the kernel does not. */
export const maxMessagesPerSecond = 2_000
export const maxBytesPerSecond = 32 * 1024 * 1024
/** What the process has not read. */
export const maxUnsentBytes = 16 * 1024 * 1024

export const maxSubscriptions = 100
export const maxTools = 100
export const maxDescriptionCharacters = 4_000
export const maxSchemaBytes = 64 * 1024

/** From the start of the process to `hello`. */
export const loadMs = 10_000
/** To answer after the signal has aborted. */
export const graceMs = 250
/** A process that does not answer this is blocked. */
export const pingMs = 3_000
export const endByItselfMs = 300
export const terminateMs = 700

const second = 1_000
const minute = 60 * second

/** Working time of a call, without the time that the kernel needs for its requests. Signals of callers may end it earlier. */
export const deadlines: { readonly [Method in ExtensionMethod | 'event']: number } = {
  initialize: 10 * second,
  start: 10 * second,
  stop: 5 * second,
  destroy: 5 * second,
  healthCheck: 5 * second,
  getTools: 10 * second,
  sendToUser: 30 * second,
  streamToUser: 10 * second,
  limitsOf: 5 * second,
  showProgress: 10 * second,
  closeRequest: 30 * second,
  // Until its signal aborts. Whether the process lives is seen by `healthCheck`.
  runBackground: Number.POSITIVE_INFINITY,
  getSchedule: 5 * second,
  execute: 10 * minute,
  getAgentDescriptor: 5 * second,
  invoke: 10 * minute,
  getContext: 5 * second,
  event: minute,
}
export const defaultToolMs = minute
export const maxToolMs = 10 * minute

export const extensionPolicy: SandboxPolicy = { ...defaultSandboxPolicy, memory: 512 * 1024 ** 2, processes: 64 }
/** Below the memory limit, so that Node reports it. */
export const heapMegabytes = 384
