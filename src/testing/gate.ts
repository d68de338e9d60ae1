/** A promise that a test opens by hand, to hold a step or a call exactly where it wants it. */
export interface HandGate {
  readonly promise: Promise<void>
  open(): void
}

/** `const door = gate(); new ScriptedModel([{ wait: door.promise, text: 'late' }]); …; door.open()` */
export function gate(): HandGate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, open: () => resolve() }
}
