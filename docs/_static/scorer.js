// What a search on the site ranks: guides first, then the reference, pages of single codes last.
var Scorer = {
  score: ([docname, , , , score]) => {
    if (/^(reference\/codes\/|errors(\/|$)|findings$|decisions\/)/.test(docname)) return score - 20;
    if (/^reference\//.test(docname)) return score - 8;
    return score + 5;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
