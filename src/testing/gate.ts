/** A promise that a test resolves, to hold a step or a call. */
export interface HandGate {
  readonly promise: Promise<void>
  open(): void
}

/**
 * @example
 * const ready = gate()
 * const model = new ScriptedModel([{ wait: ready.promise, text: 'late' }])
 * ready.open()
 */
export function gate(): HandGate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, open: () => resolve() }
}
