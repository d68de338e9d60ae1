/** The chunks of a stream until it ends or the signal aborts. A stream that ignores the signal is closed without waiting for it. */
export async function* untilAborted<T>(open: () => unknown, signal: AbortSignal): AsyncGenerator<T> {
  if (signal.aborted) return
  let wake = (): void => {}
  const onAbort = (): void => wake()
  signal.addEventListener('abort', onAbort)
  // A new promise for each wait: racing against one long-lived promise would leak memory.
  const unlessAborted = <R>(work: PromiseLike<R>): Promise<R | typeof aborted> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(aborted)
      work.then(resolve, reject)
    })
  let stream: AsyncIterator<T> | undefined
  try {
    const opening = Promise.resolve(open())
    const opened = await unlessAborted(opening)
    if (opened === aborted) return stopQuietly(async () => iteratorOf(await opening).return?.())
    stream = iteratorOf<T>(opened)
    const breather = new EventLoopYield()
    for (;;) {
      const pause = breather.next()
      if (pause) await pause
      if (signal.aborted) return
      const next = await unlessAborted(Promise.resolve(stream.next()))
      if (next === aborted || next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    const left = stream
    if (left) stopQuietly(() => left.return?.())
  }
}

const aborted = Symbol('aborted')

function iteratorOf<T>(opened: unknown): AsyncIterator<T> {
  const iterate: unknown = opened === undefined || opened === null ? undefined : Reflect.get(Object(opened), Symbol.asyncIterator)
  if (typeof iterate !== 'function') throw new TypeError('The model did not answer with a stream.')
  return (opened as AsyncIterable<T>)[Symbol.asyncIterator]()
}

/** Yields to the event loop now and then. A stream that is always ready would block timers and signals. */
export class EventLoopYield {
  #taken = 0

  /** Mostly `undefined`; every 256th time a promise to await. */
  next(): Promise<void> | undefined {
    this.#taken = (this.#taken + 1) % maxReadsInARow
    return this.#taken === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}

const maxReadsInARow = 256

/** Stops something without waiting for it, and ignores its errors. */
export function stopQuietly(stop: () => unknown): void {
  new Promise((resolve) => resolve(stop())).catch(() => {})
}
