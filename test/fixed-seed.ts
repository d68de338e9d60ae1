import fc from 'fast-check'

// The same cases in every run, so that a failure can be repeated. TROUPE_SEED=2 and so on explores others.

fc.configureGlobal({ seed: Number(process.env.TROUPE_SEED ?? 1) })
