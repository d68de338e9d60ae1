import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { type ApprovalRule, type RuleVerdict, ruleVerdicts } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { describeNode, didYouMean, listNames } from './messages.ts'
import type { Fault, Read } from './yaml-nodes.ts'

const keys: readonly string[] = [...ruleVerdicts, 'reason']
const likeThis = 'Write a rule like `{ deny: "shell(rm *)", reason: ask first }`.'
/** More is no set of rules that anybody could look through, and each is held against each call. */
export const maxRules = 500

/** A list of rules; each fault stands where it is. */
export function readRules(key: string, node: Node | null): Read {
  if (!isSeq<Node>(node))
    return { ok: false, faults: [{ node, message: `\`${key}\` must be a list of rules, not ${describeNode(node)}`, remedy: likeThis }] }
  if (node.items.length > maxRules)
    return {
      ok: false,
      faults: [
        {
          node,
          message: `\`${key}\` has ${node.items.length} rules, and ${maxRules} is the most`,
          remedy: 'Patterns such as `shell(git *)` say many at once.',
        },
      ],
    }
  const faults: Fault[] = []
  const rules = node.items.flatMap((each) => readRule(each, faults) ?? [])
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: rules }
}

function readRule(node: Node, faults: Fault[]): ApprovalRule | undefined {
  if (!isMap<Node, Node | null>(node)) {
    faults.push({ node, message: `a rule must be a map, not ${describeNode(node)}`, remedy: likeThis })
    return undefined
  }
  const rule: { -readonly [Key in keyof ApprovalRule]: ApprovalRule[Key] } = {}
  const said: RuleVerdict[] = []
  let strange = 0
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : ''
    const verdict = ruleVerdicts.find((each) => each === name)
    if (verdict) {
      said.push(verdict)
      const patterns = readPatterns(verdict, value ?? null, { key, faults })
      if (patterns !== undefined) rule[verdict] = patterns
    } else if (name !== 'reason') {
      strange++
      faults.push({ node: key, message: `a rule has no \`${name}\``, remedy: didYouMean(name, keys) ?? `There are ${listNames(keys)}.` })
    } else if (isScalar(value) && typeof value.value === 'string' && value.value.trim() !== '') rule.reason = value.value.trim()
    else
      faults.push({
        node: value ?? key,
        message: `the \`reason\` of a rule must be text, not ${describeNode(value ?? null)}`,
        remedy: likeThis,
      })
  }
  // A key that there is not is most likely the one that is missing.
  if (said.length > 1 || (said.length === 0 && strange === 0))
    faults.push({
      node,
      message: `a rule says one of ${listNames(ruleVerdicts)}, ${said.length === 0 ? 'and this says none' : `not both ${said.map((each) => `\`${each}\``).join(' and ')}`}`,
      remedy: said.length === 0 ? likeThis : 'Make a rule of each; of those that fit, the last counts.',
    })
  return rule
}

interface Patterns {
  readonly key: Node
  readonly faults: Fault[]
}

function readPatterns(verdict: RuleVerdict, node: Node | null, { key, faults }: Patterns): string | readonly string[] | undefined {
  const items: readonly (Node | null)[] = isSeq<Node>(node) ? node.items : [node]
  if (items.length === 0) faults.push({ node, message: `\`${verdict}\` is an empty list`, remedy: likeThis })
  const patterns = items.flatMap((item) => {
    const written = isScalar(item) && typeof item.value === 'string' ? item.value.trim() : ''
    if (isRulePattern(written)) return [written]
    const what = written === '' ? `\`${verdict}\` must be a pattern, not ${describeNode(item)}` : `\`${written}\` is no pattern of a rule`
    faults.push({
      node: item ?? key,
      message: what,
      remedy: 'Name a tool, perhaps with what it is used for: `shell`, `shell(git *)`, `write_file(/srv/*)`.',
    })
    return []
  })
  return isSeq(node) ? patterns : patterns[0]
}
