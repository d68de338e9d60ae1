import { expect, test } from 'vitest'
import { FakeClock } from '../testing/index.ts'
import { builtInModels } from './resolve-model.ts'

const files: { readonly [path: string]: string } = {
  '/agents/hello.yaml': 'steps: [{ text: Hello. }]',
  '/elsewhere/b.yaml': 'steps: [{ text: Bye. }]',
  '/agents/wrong.yaml': 'steps: 7',
}
const read: string[] = []
const models = builtInModels({
  async readFile(path) {
    read.push(path)
    const text = files[path]
    if (text === undefined) throw new Error(`ENOENT: ${path}`)
    return text
  },
  baseDir: '/agents',
  clock: new FakeClock(),
})

test('a script is found from the base directory and read once', async () => {
  const model = await models.resolve('script/hello.yaml')
  expect(model.id).toBe('script/hello.yaml')
  expect(await models.resolve('script/hello.yaml')).toBe(model)
  expect(read.filter((path) => path === '/agents/hello.yaml')).toHaveLength(1)
  expect((await models.resolve('script/../elsewhere/b.yaml')).id).toBe('script/../elsewhere/b.yaml')
  expect((await models.resolve('script//elsewhere/b.yaml')).id).toBe('script//elsewhere/b.yaml')
})

test('a script that is not there says where it was looked for', async () => {
  await expect(models.resolve('script/none.yaml')).rejects.toMatchObject({
    code: 'model_unknown',
    message: 'the model script/none.yaml needs the script /agents/none.yaml, which cannot be read',
    remedy: 'Create it, or give the path relative to /agents.',
  })
})

test('a wrong script is read again once it is mended', async () => {
  await expect(models.resolve('script/wrong.yaml')).rejects.toMatchObject({ code: 'script_invalid' })
  await expect(models.resolve('script/wrong.yaml')).rejects.toMatchObject({ code: 'script_invalid' })
  expect(read.filter((path) => path === '/agents/wrong.yaml')).toHaveLength(2)
})

test.each(['gpt-5', 'openai/gpt-5', 'script/', ''])('%j is unknown, and the error says what there is', async (name) => {
  await expect(models.resolve(name)).rejects.toMatchObject({ code: 'model_unknown', remedy: expect.stringContaining('`script/<file>`') })
})
