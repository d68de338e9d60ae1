// What the texts of programming languages consist of, as far as colours need it.

export type TokenKind = 'comment' | 'string' | 'number' | 'keyword' | 'name' | 'property' | 'meta' | 'added' | 'removed'

export interface Language {
  /**
   * In order of precedence. No rule may read far and then fail: what is not closed ends with its line, or with the text. So the time
   * grows with the length of the text only, whatever the text is.
   */
  readonly rules: readonly (readonly [kind: TokenKind, pattern: RegExp])[]
  readonly word: RegExp
  readonly keywords: ReadonlySet<string>
  readonly ignoresCase?: boolean
  /** Kinds of words and strings by the character that follows. */
  readonly before?: { readonly [following: string]: TokenKind }
  /** Whether `before` is for strings, too. */
  readonly hasKeys?: boolean
  /** Whether words that begin with a capital are names. */
  readonly hasTypes?: boolean
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const word = /[\p{L}_$][\p{L}\p{N}_$]*/u
const wordWithHyphens = /[\p{L}_][\p{L}\p{N}_.-]*/u

type Rule = Language['rules'][number]

const slashes: Rule = ['comment', /\/\/[^\n]*/]
const block: Rule = ['comment', /\/\*[\s\S]*?(?:\*\/|$)/]
const hash: Rule = ['comment', /(?<![^\s;(])#[^\n]*/]
const double: Rule = ['string', /"(?:[^"\\\n]|\\[\s\S])*"?/]
const single: Rule = ['string', /'(?:[^'\\\n]|\\[\s\S])*'?/]
const backtick: Rule = ['string', /`(?:[^`\\]|\\[\s\S])*`?/]
const triple: Rule = ['string', /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)/]
const number: Rule = ['number', /\d[\w.]*/]
const decorator: Rule = ['meta', /@[\p{L}_][\p{L}\p{N}_.]*/u]

const calls = { '(': 'name' } as const
const likeC = (keywords: string, more: Partial<Language> = {}): Language => ({
  rules: [slashes, block, decorator, double, single, number],
  word,
  keywords: words(
    `if else for while do switch case default break continue return true false null this new try catch finally throw ${keywords}`,
  ),
  before: calls,
  hasTypes: true,
  ...more,
})

const script =
  'async await class const debugger delete export extends from function get import in instanceof let of set static super typeof undefined var void yield as declare enum implements interface keyof namespace private protected public readonly satisfies type abstract override is infer NaN Infinity'

const javascript = likeC(script, {
  rules: [
    slashes,
    block,
    decorator,
    double,
    single,
    backtick,
    ['string', /(?<=[=(,:[!&|?{};\n] {0,2})\/(?![*/=\s])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]?|[^/\\\n[])*\/?[a-z]*/],
    number,
  ],
})

const json: Language = {
  rules: [slashes, block, double, ['number', /-?\d[\w.+-]*/]],
  word,
  keywords: words('true false null'),
  before: { ':': 'property' },
  hasKeys: true,
}

const python: Language = {
  rules: [hash, triple, decorator, double, single, number],
  word,
  keywords: words(
    'and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield True False None self',
  ),
  before: calls,
  hasTypes: true,
}

const shell: Language = {
  rules: [
    hash,
    ['meta', /\$(?:\{[^}\n]*\}?|[\w@*#?!$-])[\w]*/],
    ['string', /"(?:[^"\\]|\\[\s\S])*"?/],
    ['string', /'[^']*'?/],
    ['property', /(?<=[\s[(])--?[\p{L}][\w-]*/u],
    ['number', /(?<![\w./-])\d+(?![\w./-])/],
  ],
  // With paths: their parts are no keywords.
  word: /[\p{L}_./~][\p{L}\p{N}_./~:@%+-]*/u,
  keywords: words(
    'if then else elif fi for while until do done case esac in function return exit local export readonly set unset shift trap source alias sudo cd echo printf test read eval exec',
  ),
  before: { '=': 'property' },
}

const yaml: Language = {
  rules: [
    hash,
    double,
    ['string', /'(?:[^'\n]|'')*'?/],
    ['meta', /(?<![^\s[,])[&*!][\w!-]+|\$\{[^}\n]*\}?|^---/m],
    ['number', /(?<![\w./:-])-?\d[\d_.,:]*(?![\w/-])/],
  ],
  word: wordWithHyphens,
  keywords: words('true false null yes no on off'),
  before: { ':': 'property' },
  hasKeys: true,
}

const toml: Language = {
  rules: [
    ['comment', /(?<![^\s])[#;][^\n]*/],
    triple,
    double,
    single,
    ['name', /^\[{1,2}[^\]\n]*\]{0,2}/m],
    ['number', /(?<![\w.-])[+-]?\d[\w.:-]*/],
  ],
  word: wordWithHyphens,
  keywords: words('true false'),
  before: { '=': 'property' },
  hasKeys: true,
}

const markup: Language = {
  rules: [
    ['comment', /<!--[\s\S]*?(?:-->|$)/],
    ['meta', /<[!?][^>\n]*>?|&#?\w{1,12};/],
    ['keyword', /<\/?[\p{L}][\p{L}\p{N}:._-]*|\/?>/u],
    ['string', /(?<==)"[^"]*"?|(?<==)'[^']*'?/],
  ],
  word: /[\p{L}_@:][\p{L}\p{N}_:.@-]*/u,
  keywords: new Set(),
  before: { '=': 'property' },
}

const css: Language = {
  rules: [
    block,
    ['comment', /(?<=^\s{0,20})\/\/[^\n]*/m],
    double,
    single,
    ['meta', /@[\w-]+|--[\w-]+|\$[\w-]+/],
    ['number', /#[\da-f]{3,8}\b|(?<![\w-])-?(?:\d|\.\d)[\w.%]*/i],
    ['name', /[.#][\p{L}_-][\p{L}\p{N}_-]*/u],
  ],
  word: /[\p{L}_-][\p{L}\p{N}_-]*/u,
  keywords: words('important from to and not only'),
  before: { ':': 'property', '(': 'name' },
}

const sql: Language = {
  rules: [['comment', /--[^\n]*/], block, ['string', /'(?:[^']|'')*'?/], ['property', /"[^"\n]*"?|`[^`\n]*`?/], number],
  word,
  keywords: words(
    'select from where and or not in is null like between join left right inner outer full cross on using group by order having limit offset union all distinct as insert into values update set delete create table index view drop alter add column primary key foreign references unique default check constraint begin commit rollback transaction case when then else end exists with recursive returning asc desc true false int integer text real blob boolean date timestamp varchar',
  ),
  ignoresCase: true,
  before: calls,
}

const go = likeC(
  'break chan const defer fallthrough func go goto import interface map package range select struct type var nil string int int64 bool byte error any iota make len append',
  { rules: [slashes, block, double, single, backtick, number] },
)

const rust = likeC(
  'as async await const crate dyn enum extern fn impl in let loop match mod move mut pub ref self Self static struct super trait type unsafe use where bool char str u8 u32 u64 usize i32 i64 f64',
  {
    rules: [
      slashes,
      block,
      ['meta', /#!?\[[^\]\n]*\]?/],
      double,
      ['string', /'(?:\\[^\n']{1,9}|[^'\\\n])'/],
      ['meta', /'[a-z_]\w*/],
      number,
    ],
    before: { '(': 'name', '!': 'name' },
  },
)

const java = likeC(
  'abstract assert boolean byte char class const double enum extends final float goto implements import instanceof int interface long native package private protected public record short static strictfp super synchronized throws transient var void volatile sealed permits yield async await base bool checked decimal delegate event explicit extern fixed foreach get implicit in internal is lock namespace object operator out override params readonly ref sbyte set sizeof stackalloc string struct typeof uint ulong unchecked unsafe using value virtual where fun val when object companion data lateinit suspend by init inline let guard func extension protocol def trait with lazy',
)

const c = likeC(
  'auto char const double enum extern float goto inline int long register restrict short signed sizeof static struct typedef union unsigned void volatile class public private protected virtual template typename namespace using nullptr delete operator friend constexpr override final bool size_t uint8_t uint32_t int32_t int64_t std',
  { rules: [slashes, block, ['meta', /^\s{0,20}#\s{0,20}\w+(?:[ \t]*<[^>\n]*>?)?/m], double, single, number] },
)

const ruby: Language = {
  rules: [hash, ['meta', /[@$]{1,2}[\p{L}_]\w*/u], ['string', /(?<![\w:]):[\p{L}_]\w*/u], double, single, number],
  word: /[\p{L}_][\p{L}\p{N}_]*[?!]?/u,
  keywords: words(
    'alias and begin break case class def defined do else elsif end ensure extend false for if in include module next nil not or private protected public raise redo require rescue retry return self super then true undef unless until when while yield attr_accessor attr_reader',
  ),
  before: calls,
  hasTypes: true,
}

const php = likeC(
  'abstract and array as class clone const declare echo elseif empty enum extends final fn foreach function global implements include instanceof insteadof interface isset match namespace or print private protected public readonly require require_once static string int float bool trait unset use var xor yield self parent mixed void',
  { rules: [slashes, block, hash, ['meta', /<\?(?:php)?|\?>|\$\w+/], double, single, number] },
)

const lua: Language = {
  rules: [['comment', /--\[\[[\s\S]*?(?:\]\]|$)|--[^\n]*/], double, single, number],
  word,
  keywords: words('and break do else elseif end false for function goto if in local nil not or repeat return then true until while'),
  before: calls,
}

const dockerfile: Language = {
  ...shell,
  keywords: words('from run cmd label expose env add copy entrypoint volume user workdir arg onbuild stopsignal healthcheck shell as'),
  ignoresCase: true,
}

const diff: Language = {
  rules: [
    ['meta', /^(?:diff |index |---|\+\+\+|@@)[^\n]*/m],
    ['added', /^\+[^\n]*/m],
    ['removed', /^-[^\n]*/m],
  ],
  word: /[^\n]+/,
  keywords: new Set(),
}

const names: readonly (readonly [Language, string])[] = [
  [javascript, 'javascript js jsx mjs cjs typescript ts tsx mts cts'],
  [json, 'json jsonc json5 jsonl ndjson'],
  [python, 'python py python3 pyi'],
  [shell, 'bash sh shell zsh fish console terminal shellsession ps1 powershell'],
  [yaml, 'yaml yml'],
  [toml, 'toml ini env dotenv properties conf editorconfig'],
  [markup, 'html xml svg xhtml vue svelte astro'],
  [css, 'css scss less sass'],
  [sql, 'sql sqlite postgres postgresql mysql'],
  [go, 'go golang'],
  [rust, 'rust rs'],
  [java, 'java kotlin kt csharp cs c# swift scala dart groovy'],
  [c, 'c h cpp c++ cc hpp cxx objc arduino'],
  [ruby, 'ruby rb'],
  [php, 'php'],
  [lua, 'lua'],
  [dockerfile, 'dockerfile docker containerfile'],
  [diff, 'diff patch'],
]

const byName = new Map(names.flatMap(([language, all]) => all.split(' ').map((name) => [name, language] as const)))

export const languageNamed = (name: string): Language | undefined => byName.get(name.toLowerCase())
