/** Whether the work ends in time, by a real timer: contracts run against real tools and servers. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([work.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
