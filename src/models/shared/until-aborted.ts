/**
 * What a stream brings until it ends or the signal aborts. A stream that does not heed the signal is left to itself:
 * it is told to close, and that is not waited for.
 */
export async function* untilAborted<T>(open: () => unknown, signal: AbortSignal): AsyncGenerator<T> {
  if (signal.aborted) return
  let wake = (): void => {}
  const onAbort = (): void => wake()
  signal.addEventListener('abort', onAbort)
  // A promise of its own for each piece of work: a race against one that lives long would pile up what waits for it.
  const unlessAborted = <R>(work: PromiseLike<R>): Promise<R | typeof aborted> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(aborted)
      work.then(resolve, reject)
    })
  let stream: AsyncIterator<T> | undefined
  try {
    const opening = Promise.resolve(open())
    const opened = await unlessAborted(opening)
    if (opened === aborted) return dismiss(async () => iteratorOf(await opening).return?.())
    stream = iteratorOf<T>(opened)
    const breather = new Breather()
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
    if (left) dismiss(() => left.return?.())
  }
}

const aborted = Symbol('aborted')

function iteratorOf<T>(opened: unknown): AsyncIterator<T> {
  const iterate: unknown = opened === undefined || opened === null ? undefined : Reflect.get(Object(opened), Symbol.asyncIterator)
  if (typeof iterate !== 'function') throw new TypeError('The model did not answer with a stream.')
  return (opened as AsyncIterable<T>)[Symbol.asyncIterator]()
}

/**
 * Lets everything else have its turn now and then. What is always ready at once, and brings nothing to show, would
 * otherwise keep timers and signals waiting for ever.
 */
export class Breather {
  #taken = 0

  /** Nothing, mostly; now and then something to wait for. */
  next(): Promise<void> | undefined {
    this.#taken = (this.#taken + 1) % mostInARow
    return this.#taken === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}

const mostInARow = 256

/** Tells something of other people's to stop. What it says to that is not waited for, and does no harm. */
export function dismiss(stop: () => unknown): void {
  new Promise((resolve) => resolve(stop())).catch(() => {})
}
