import { isMap, isSeq, type Node } from 'yaml'
import { type ApprovalRule, type RuleVerdict, ruleVerdicts } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import { describeNode, listNames, suggestName } from '../../yaml/messages.ts'
import { keyText, type ReadResult, textOfNode, type ValueProblem } from '../../yaml/yaml-nodes.ts'

const keys: readonly string[] = [...ruleVerdicts, 'reason']
const likeThis = 'Write a rule like `{ deny: "shell(rm *)", reason: ask first }`.'
/** Every rule is compared with every call. */
export const maxRules = 500

/** Reads a list of rules. */
export function readRules(key: string, node: Node | null): ReadResult {
  const refused = (message: string, remedy: string): ReadResult => ({ ok: false, problems: [{ node, message, remedy }] })
  if (!isSeq<Node>(node)) return refused(`\`${key}\` must be a list of rules, not ${describeNode(node)}`, likeThis)
  if (node.items.length > maxRules)
    return refused(
      `\`${key}\` has ${node.items.length} rules; the maximum is ${maxRules}`,
      'Use patterns such as `shell(git *)` to cover many calls with one rule.',
    )
  const problems: ValueProblem[] = []
  const rules = node.items.flatMap((each) => readRule(each, problems) ?? [])
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: rules }
}

function readRule(node: Node, problems: ValueProblem[]): ApprovalRule | undefined {
  if (!isMap<Node, Node | null>(node)) {
    problems.push({ node, message: `a rule must be a map, not ${describeNode(node)}`, remedy: likeThis })
    return undefined
  }
  const rule: { -readonly [Key in keyof ApprovalRule]: ApprovalRule[Key] } = {}
  const verdicts: RuleVerdict[] = []
  let hasUnknownKey = false
  for (const { key, value } of node.items) {
    const name = keyText(key)
    const verdict = ruleVerdicts.find((each) => each === name)
    if (verdict) {
      verdicts.push(verdict)
      const patterns = readPatterns(verdict, value ?? null, { key, problems })
      if (patterns !== undefined) rule[verdict] = patterns
    } else if (name !== 'reason') {
      hasUnknownKey = true
      problems.push({ node: key, message: `unknown key \`${name}\` in a rule`, remedy: suggestName(name, keys) })
    } else if (textOfNode(value) !== '') rule.reason = textOfNode(value)
    else {
      const message = `the \`reason\` of a rule must be text, not ${describeNode(value ?? null)}`
      problems.push({ node: value ?? key, message, remedy: likeThis })
    }
  }
  if (verdicts.length > 1)
    problems.push({
      node,
      message: `a rule has only one of ${listNames(ruleVerdicts)}`,
      remedy: 'Write one rule for each; the last rule that matches applies.',
    })
  // An unknown key is most likely a misspelt verdict.
  else if (verdicts.length === 0 && !hasUnknownKey)
    problems.push({ node, message: `a rule needs one of ${listNames(ruleVerdicts)}`, remedy: likeThis })
  return rule
}

interface PatternContext {
  readonly key: Node
  readonly problems: ValueProblem[]
}

function readPatterns(verdict: RuleVerdict, node: Node | null, { key, problems }: PatternContext): string | readonly string[] | undefined {
  const items: readonly (Node | null)[] = isSeq<Node>(node) ? node.items : [node]
  if (items.length === 0) problems.push({ node, message: `\`${verdict}\` is an empty list`, remedy: likeThis })
  const patterns = items.flatMap((item) => {
    const written = textOfNode(item)
    if (isRulePattern(written)) return [written]
    problems.push({
      node: item ?? key,
      message:
        written === '' ? `\`${verdict}\` must be a pattern, not ${describeNode(item)}` : `\`${written}\` is not a valid rule pattern`,
      remedy: 'Name a tool, optionally with its use: `shell`, `shell(git *)`, `write_file(/srv/*)`.',
    })
    return []
  })
  return isSeq(node) ? patterns : patterns[0]
}
