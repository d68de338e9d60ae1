/**
 * What a stream brings until it ends or the signal aborts. A stream that does not heed the signal is left to itself:
 * it is told to close, and that is not waited for.
 */
export async function* untilAborted<T>(open: () => PromiseLike<AsyncIterable<T>>, signal: AbortSignal): AsyncGenerator<T> {
  if (signal.aborted) return
  let wake = (): void => {}
  const onAbort = (): void => wake()
  signal.addEventListener('abort', onAbort)
  // A promise of its own for each piece of work: a race against one that lives long would pile up what waits for it.
  const unlessAborted = <R>(work: PromiseLike<R>): Promise<R | undefined> =>
    new Promise((resolve, reject) => {
      wake = () => resolve(undefined)
      work.then(resolve, reject)
    })
  let stream: AsyncIterator<T> | undefined
  try {
    const opening = open()
    const opened = await unlessAborted(opening)
    if (!opened) return void opening.then((late) => close(late[Symbol.asyncIterator]()), ignore)
    stream = opened[Symbol.asyncIterator]()
    for (;;) {
      const next = await unlessAborted(stream.next())
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    close(stream)
  }
}

function close(stream: AsyncIterator<unknown> | undefined): void {
  try {
    stream?.return?.()?.then(ignore, ignore)
  } catch {
    // It has said what it had to say.
  }
}

const ignore = (): void => {}
