import assert from 'node:assert/strict'
import { maxIndexedChars, maxSearchChars, type SearchMatch, type Store } from '../../contracts/index.ts'
import { appended, batch, claimed, oddText, one, type StoreCases, two } from './sample-tree.ts'
import { found, treeOf, treeWith, turn } from './turn-records.ts'

const texts: { readonly [tree: string]: string } = {
  a: 'The Report about foo-bar is 100% done.',
  b: 'Café Ångström, Straße, naïve',
  c: '東京都に行きました。コーヒーを飲む',
  d: 'A party 🎉 in 2026 with "quotes" AND an OR, text:colon * and NEAR',
  e: 'ประเทศไทย',
  f: 'bar. foo; Ελλάδα ΟΔΟΣ',
}

/** What a search for the first finds in these texts. */
const searches: readonly (readonly [string, string])[] = [
  ['report', 'a'],
  ['REPORT done', 'a'],
  ['rep', 'a'],
  ['eport', ''],
  ['report missing', ''],
  ['foo-bar', 'a'],
  ['bar-foo', 'f'],
  ['foo bar', 'f a'],
  ['fo-bar', ''],
  ['foo-ba', 'a'],
  ['foo.bar', 'a'],
  ['cafe', 'b'],
  ['CAFÉ', 'b'],
  ['cafe\u0301', 'b'],
  ['angstrom strasse', 'b'],
  ['naive', 'b'],
  ['οδος', 'f'],
  ['ελλαδα', 'f'],
  ['東京', 'c'],
  ['京都', 'c'],
  ['東都', ''],
  ['コーヒー', 'c'],
  ['京都 飲む', 'c'],
  ['飲む京都', ''],
  ['ไทย', 'e'],
  ['%', 'a'],
  ['100%', 'a'],
  ['_', ''],
  ['🎉', 'd'],
  ['party🎉', 'd'],
  ['🎊', ''],
  ['"', 'd'],
  ['"quotes"', 'd'],
  ['"', 'd'],
  ['"report', 'a'],
  ["' OR 1=1 --", ''],
  ['*', 'd'],
  ['OR', 'd'],
  ['report OR party', ''],
  ['NOT report', ''],
  ['NEAR(a b)', ''],
  ['text:colon', 'd'],
  ['text : colon', 'd'],
  ['text + colon', ''],
  ['-', 'a'],
  ['^report', 'a'],
  ['{a} + (b', ''],
  ['\\', ''],
  ['\u0000', ''],
  ['\ud800', ''],
  ['report \u0000', ''],
  ['x'.repeat(10_000), ''],
  ['a '.repeat(5_000), 'd b a'],
  ['% '.repeat(5_000), 'a'],
  [Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(' '), ''],
  [Array.from({ length: 2_000 }, (_, index) => `w${index}`).join('-'), ''],
  [Array.from({ length: 1_000 }, (_, index) => String.fromCodePoint(0x1f300 + index)).join(' '), ''],
]

async function matchOf(store: Store, search: string): Promise<SearchMatch | undefined> {
  const [entry] = await store.trees.list({ search })
  return entry?.match
}

const marked = (match: SearchMatch | undefined): readonly string[] =>
  (match?.ranges ?? []).map(([start, end]) => match?.snippet.slice(start, end) ?? '')

export const searchCases: StoreCases = {
  async 'finds words and literal text, and never fails'({ store, other }) {
    for (const [name, text] of Object.entries(texts)) await treeOf(store, name, text)
    const check = async (): Promise<void> => {
      for (const [search, expected] of searches) assert.equal(await found(other, search), expected, search.slice(0, 80))
    }
    await check()
    // Stores may look through the newest texts, and use an index for others.
    await store.turns.rebuildIndex()
    await check()
  },
  async 'needs all words in one text, which may be a message or an answer'({ store }) {
    await treeOf(store, 'a', 'red', 'green blue')
    await treeWith(store, 'b', { turns: [turn({ texts: ['blue'] }), turn({ seq: 1, texts: ['yellow', 'red'] })] })
    assert.deepEqual([await found(store, 'red'), await found(store, 'blue green'), await found(store, 'red green')], ['b a', 'a', ''])
  },
  async 'lists every tree without a search, and for a blank one'({ store }) {
    await treeOf(store, 'a', 'red')
    assert.deepEqual(await store.trees.list({ search: ' \n' }), await store.trees.list())
    assert.equal((await store.trees.list())[0]?.match, undefined)
    assert.equal((await store.trees.get('a' as typeof one))?.match, undefined)
  },
  async 'shows the newest text that matches, with its kind and time'({ store }) {
    const turns = [
      turn({ at: 10, texts: ['first word', 'second word'] }),
      turn({ at: 20, texts: ['third word', 'fourth'] }),
      turn({ at: 30, texts: ['fifth', 'sixth'] }),
    ]
    await treeWith(store, 'a', { turns })
    assert.deepEqual(await matchOf(store, 'word'), { kind: 'message', at: 20, snippet: 'third word', ranges: [[6, 10]] })
    assert.deepEqual(await matchOf(store, 'second'), { kind: 'answer', at: 10, snippet: 'second word', ranges: [[0, 6]] })
  },
  async 'marks every word that matches in a snippet of one line'({ store }) {
    await treeOf(store, 'a', '\n\n  A Café\n\t and   cafés: foo-bar, 🎉東京 \u001b[31m')
    const match = await matchOf(store, 'cafe foo-ba 東京 🎉')
    assert.equal(match?.snippet, 'A Café and cafés: foo-bar, 🎉東京 [31m')
    assert.deepEqual(marked(match), ['Café', 'cafés', 'foo', 'bar', '🎉', '東京'])
  },
  async 'cuts the snippet around the first match'({ store }) {
    await treeOf(store, 'a', `${'before '.repeat(1000)}needle ${'after '.repeat(1000)}needle`)
    const match = await matchOf(store, 'needle')
    assert.match(match?.snippet ?? '', /^…(before )+needle (after )+\w*…$/)
    assert((match?.snippet.length ?? 0) <= 162)
    assert.deepEqual(marked(match), ['needle'])
    await treeOf(store, 'b', `${'🎭'.repeat(100)}x${'🎭'.repeat(100)}`)
    const emoji = await matchOf(store, 'x')
    assert(emoji?.snippet.isWellFormed())
    assert.deepEqual(marked(emoji), ['x'])
    await treeOf(store, 'c', 'z'.repeat(5000))
    const long = await matchOf(store, 'z'.repeat(4000))
    assert.deepEqual([long?.snippet, long?.ranges], [`${'z'.repeat(160)}…`, [[0, 160]]])
  },
  async 'finds as many terms as a search can have in long texts, and marks only what it shows'({ store }) {
    const words = Array.from({ length: 2500 }, (_, index) => (index + 46_656).toString(36).slice(-3))
    const characters = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
    const pairs = characters.slice(0, 3333).map((character, index) => character + characters[index + 1])
    const signs = Array.from({ length: 90 }, (_, index) => '%'.repeat(index + 1))
    const long: { readonly [tree: string]: readonly [string, ...(readonly string[])] } = {
      words: [words.join(' '), words.join(' '), words.toReversed().join(' '), words.join('-')],
      characters: [characters.join(''), characters.join(' '), pairs.join(' '), characters.join('')],
      letters: ['a ', 'a-'.repeat(5000), 'a-'.repeat(4998), Array.from({ length: 90 }, (_, index) => 'a-'.repeat(index + 2)).join(' ')],
      signs: ['%'.repeat(20_000), signs.join(' '), '%'.repeat(10_000)],
    }
    for (const [name, [text]] of Object.entries(long))
      await treeOf(store, name, `${text} `.repeat(Math.ceil(maxIndexedChars / text.length)))
    const check = async (): Promise<void> => {
      for (const [name, [, ...searched]] of Object.entries(long))
        for (const search of searched) {
          const [entry, ...others] = await store.trees.list({ search: search.slice(0, maxSearchChars) })
          assert.deepEqual([entry?.treeId, others], [name, []], search.slice(0, 80))
          const { snippet = '', ranges = [] } = entry?.match ?? {}
          assert(snippet.length <= 162 && ranges.length > 0 && ranges.length <= 160, search.slice(0, 80))
        }
    }
    await check()
    await store.turns.rebuildIndex()
    await check()
  },
  async 'needs the first 64 joined words of a search in a row, and all others anywhere'({ store }) {
    const words = Array.from({ length: 100 }, (_, index) => `w${index}`)
    await treeOf(store, 'a', words.join(' '))
    const swapped = (first: number): string =>
      words
        .with(first, `w${first + 1}`)
        .with(first + 1, `w${first}`)
        .join('-')
    assert.deepEqual(
      [await found(store, swapped(62)), await found(store, swapped(64)), await found(store, `${swapped(64)}-x`)],
      ['', 'a', ''],
    )
  },
  async 'keeps any text, and searches no more of it than the limit'({ store }) {
    await treeOf(store, 'a', oddText, `start ${'x '.repeat(maxIndexedChars)} beyond`)
    assert.deepEqual([await found(store, 'lone'), await found(store, 'start'), await found(store, 'beyond')], ['a', 'a', ''])
    assert.equal((await matchOf(store, 'lone'))?.snippet.isWellFormed(), true)
  },
  async 'is one filter among others, with pages'({ store }) {
    for (let index = 0; index < 9; index += 1)
      await treeWith(store, `tree-${index}`, {
        turns: [turn({ texts: [index % 2 === 0 ? 'even' : 'odd'] })],
        identity: { owner: index < 6 ? 'ann' : 'bob' },
      })
    const filter = { search: 'even', owner: 'ann' }
    const all = await store.trees.list(filter)
    assert.deepEqual(
      all.map(({ treeId }) => treeId),
      ['tree-4', 'tree-2', 'tree-0'],
    )
    const first = await store.trees.list({ ...filter, limit: 2 })
    assert.deepEqual([...first, ...(await store.trees.list({ ...filter, before: first.at(-1)?.createdAt ?? 0 }))], all)
    assert.equal((await store.trees.list({ search: 'even', text: 'TREE-8' })).length, 1)
  },
  async 'finds texts of other processes, while they are added and after many'({ store, other }) {
    const { epoch } = await claimed(store, one)
    for (let after = 0; after < 400; after += 1) {
      const turns = [turn({ seq: after + 1, texts: [`number${after}`, 'common'] })]
      await appended(store, { ...batch(one, epoch, { after, count: 1 }), turns })
      if (after % 100 === 0) assert.equal(await found(other, `number${after}`), one)
    }
    await treeOf(other, two, 'common last')
    for (const each of [store, other]) {
      assert.deepEqual(
        [await found(each, 'number7'), await found(each, 'number399'), await found(each, 'common')],
        [one, one, `${two} ${one}`],
      )
      assert.equal(await found(each, 'last'), two)
    }
  },
  async 'no longer finds a deleted tree, and never takes another for it'({ store, other }) {
    await treeOf(store, one, 'secret')
    assert.equal(await found(other, 'secret'), one)
    await other.trees.delete(one)
    await treeOf(store, two, 'open')
    await treeOf(store, one, 'again')
    assert.deepEqual([await found(store, 'secret'), await found(store, 'open'), await found(other, 'again')], ['', two, one])
  },
  async 'stores nothing of a refused append, and the texts of a repeated one once'({ store }) {
    const { epoch } = await claimed(store, one)
    const first = { ...batch(one, epoch, { after: 0, count: 1 }), turns: [turn({ texts: ['first'] })] }
    await Promise.all([appended(store, first), appended(store, structuredClone(first))])
    const second = { ...batch(one, epoch, { after: 5, count: 1 }), turns: [turn({ texts: ['second'] })] }
    assert.equal((await store.journal.append(second)).ok, false)
    assert.deepEqual([await found(store, 'first'), await found(store, 'second')], [one, ''])
  },
  async 'finds the same after the index was built again'({ store, other }) {
    for (const [name, text] of Object.entries(texts)) await treeOf(store, name, text)
    await other.turns.rebuildIndex()
    await treeOf(store, 'g', 'report later')
    await store.trees.delete('b' as typeof one)
    for (const each of [store, other])
      assert.deepEqual([await found(each, 'report'), await found(each, 'cafe'), await found(each, '京都')], ['g a', '', 'c'])
  },
}
