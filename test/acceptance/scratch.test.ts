import { test } from 'vitest'
import { world, tool, resultsIn, bounded } from './support.ts'
for (const n of ['', 'x'.repeat(10_000), '../../etc/passwd', '__proto__', 'constructor', 'toString']) test(n.slice(0,20), async () => {
  const { runtime, model } = world({ steps: [{ calls: [{ tool: n }] }, { text: 'x' }], tools: [tool('read_file')] })
  const t = Date.now()
  const o = await bounded(runtime.run('go'), 'run', 3000)
  console.log(n.slice(0,20), Date.now()-t, o.status, JSON.stringify(resultsIn(model.requests[1])).slice(0,300), JSON.stringify(resultsIn(model.requests[1])).length)
}, 5000)
test('all', async () => {
  const names = ['a','b','c','d','e','f']
  const { runtime, model } = world({ steps: [{ calls: names.map(t=>({ tool: t })) }, { text: 'x' }], tools: [tool('read_file')] })
  const o = await bounded(runtime.run('go'), 'run', 3000)
  console.log(o.status, o.message)
}, 5000)
