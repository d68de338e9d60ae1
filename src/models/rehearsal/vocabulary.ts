import { stem } from '../../util/stem.ts'

// The English that the rules know.

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))
const stems = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).map(stem))

export const articles = set('a an the my our your his her its their this that these those some any all')
export const conjunctions = set('and or & plus then')
export const prepositions = set(
  'from to in into at on for with about by between near around regarding via under over until till before after since without as matching containing called named titled saying than through',
)
/** Verbs that ask an agent: "ask the critic to …". */
export const askVerbs = set('ask let tell have get call use want')

const stopWords = stems(
  `a an the and or but nor so if of not no yes i me my we us our you your he him his she her it its they them their this that these those
  there here is are was were be been do does did has have had can could will would shall should may might must what which who whom when
  where why how from to in into at on for with about by as than then also too now just please thanks some any all each more much many very
  ok okay hello hi hey want need let get got look up give tell use using try know say said thing one out off down back go new call ask`,
)
export const isStopWord = (wordStem: string): boolean => wordStem === '' || stopWords.has(wordStem)

const changeVerbs = stems(
  `write save create delete remove update edit send add append book buy order reserve cancel move copy rename complete set schedule make put
  invite pay post publish deploy transfer run execute install`,
)
/** A tool whose name has such a verb needs that verb, or a synonym, in the request. */
export const isChangeVerb = (wordStem: string): boolean => changeVerbs.has(wordStem)

/** Words between two bars mean the same. */
const groups = `weather forecast rain sunny temperature | mail email | calendar meeting appointment event | task todo reminder remind
  | search find locate grep | delete remove erase | create make new add schedule remind put set | write save store create append | read open
  | folder directory | list show enumerate | shell command terminal run execute | train rail railway | book booking reserve reservation
  | buy order purchase | summary summarise summariser | research researcher investigate | critic critique review reviewer | convert conversion
  | add sum plus addition | price cost | translate translator translation | web website page internet | calculate calculator compute`

const groupsOf = new Map<string, readonly number[]>()
for (const [index, line] of groups.split('|').entries())
  for (const key of line.trim().split(/\s+/).map(stem)) groupsOf.set(key, [...(groupsOf.get(key) ?? []), index])

/** Whether two words, as stems, mean the same. */
export function means(one: string, other: string): boolean {
  return one === other || (groupsOf.get(one) ?? []).some((group) => groupsOf.get(other)?.includes(group))
}
