import { stem } from '../../util/stem.ts'

// The English that the rules know. Kept small: without one of these words a wrong tool was chosen.

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))
const stems = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).map(stem))

export const articles = set('a an the my our your his her its their this that these those some any all every each')
export const conjunctions = set('and or & plus')
export const politeness = set('please thanks thank kindly just also too again now quickly maybe')

/** Words that give a value its role. `of` is not one: it is part of a phrase. */
export const prepositions = set(
  'from to in into at on for with about by between near around regarding concerning via under over below above until till before after since within without as matching containing called named titled saying toward towards than through onto against',
)

/** Words that never choose between tools. */
const stopWords = stems(
  `a an the and or but nor so if of not no yes i me my mine we us our you your yours he him his she her it its they them their this that
  these those there here is are was were be been being am do does did done have has had having can could will would shall should may might
  must what which who whom whose when where why how from to in into at on for with about by between near around via under over until till
  before after since within without as than through then also too again now just please thanks thank some any all every each more most much
  many few other another such only own same very ok okay hello hi hey want need like let lets get got look up give tell fetch use using
  try help know say says said thing things something anything one ones out off down back go going new call ask
  what's it's i'm i'd i'll don't doesn't can't won't let's there's that's`,
)
export const isStopWord = (wordStem: string): boolean => stopWords.has(wordStem) || wordStem.length === 0

/** Verbs that many tools share: alone they do not choose one. */
const commonActions = stems(
  'list show read write save create delete remove find search open update set send run execute add start stop move copy book buy order change edit complete finish check view answer review plan compare put schedule make',
)
export const isCommonAction = (wordStem: string): boolean => commonActions.has(wordStem)

/** Verbs that change something. A noun alone does not choose a tool with such a verb in its name. */
const changes = stems(
  'create write save delete remove update send add book buy order move copy edit complete append remind put set schedule make reserve invite',
)
export const isChange = (wordStem: string): boolean => changes.has(wordStem)

/** Nouns that can name anything. */
const vagueNouns = stems('product item entry record thing object element data resource')
export const isVagueNoun = (wordStem: string): boolean => vagueNouns.has(wordStem)

/** Synonyms: the words between two bars mean the same. */
const concepts = `
  weather forecast rain raining rainy snow snowing sunny sunshine temperature windy cold warm umbrella
  | mail email inbox | calendar meeting appointment event agenda | task todo reminder remind chore
  | search find locate grep seek | delete remove erase | create make new schedule remind put set | write save store create make
  | read open view cat | folder directory dir | list ls enumerate | shell command terminal run execute bash
  | train rail railway | book booking reserve reservation | buy order purchase checkout
  | summary summarise summariser condense shorten | research researcher investigate | critic critique criticise review reviewer
  | convert conversion converter | add sum plus addition total | subtract minus subtraction difference
  | multiply times product multiplication | divide division quotient | calculate calculator calculation compute
  | price cost fare | person people guest adult traveller attendee participant invite invitee | product item article goods
  | page web website | translate translation translator | complete finish tick | colour color | low minor | high urgent important
  | kilometre kilometer km | mile mi | metre meter m | centimetre centimeter cm | foot feet ft | inch in
  | kilogram kilo kg | gram gramme g | pound lb lbs | litre liter l | celsius centigrade c temperature degree
  | fahrenheit f temperature degree | hour hr h | minute min | second sec | small s | medium m | large l | euro eur € | dollar usd $`

const conceptOf = new Map<string, number[]>()
for (const [index, line] of concepts.split('|').entries())
  for (const key of line.trim().split(/\s+/).map(stem)) conceptOf.set(key, [...(conceptOf.get(key) ?? []), index])

export const conceptsOf = (wordStem: string): readonly number[] => conceptOf.get(wordStem) ?? []

/** Whether two words, as stems, mean the same. */
export function means(one: string, other: string): boolean {
  return one === other || conceptsOf(one).some((concept) => conceptsOf(other).includes(concept))
}

/** Words that refer to the result of another call or to a value of an earlier request. */
export const references = set('it that this them these those result results finding findings answer output outcome there him her same')
