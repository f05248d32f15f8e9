"""The words and rules by which six ideas about speculative decoding, and six misconceptions, are recognised.

Why a module of its own: it is data, read by whoever asks why an answer was understood so and not otherwise. A class in
`_LEXICON` is a list of words and phrases (any ending will do; "the" and the like are skipped); a rule names classes
that must stand near each other, see `explain.Rule`. It must not know what is said back to the reader. Over 400
lines: language is long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import product

from .explain import Lexicon, Rule

__all__ = ["ENGLISH", "FOREIGN", "IDEAS", "MISCONCEPTIONS", "lexicon"]

IDEAS = ("memory", "parallel", "cheap", "several", "check", "limits")
MISCONCEPTIONS = ("unchecked", "smaller", "always", "worse", "less_compute", "side_by_side")

# Words that hold sentences together: they tell English from other languages, and sentences from lists of keywords.
_ENGLISH = """
the a an is are was be been of to in on at it its this that these those and or but because so as for with than from
by not no do does can will would if when which what who you we i they he she has have had more most one only there
per then while neither nor never without nothing both nobody since into out all each every just also how why my your
their
"""
_FOREIGN = """
der das den dem des ein eine einen einer und oder nicht ist sind weil dass mit für auf auch kann wird werden von zu
bei es sie ich wir le la les un une du et ou ne pas est sont parce que qui pour avec dans sur peut il elle ce cette
el los las del al y o no son porque para con por se su lo muy una más puede het een de en niet zijn omdat dat wordt
van met voor ook kan uno gli della di che perché per non più è sono può com não mais são é os uma em på och är att
det som inte og ikke er w na się jest że ve bir bu için
"""
ENGLISH = frozenset(_ENGLISH.split())
FOREIGN = frozenset(_FOREIGN.split()) - ENGLISH

_LEXICON = """
@model
    model, language model, llm, network, net, one, transformer, lm, brother, neural network, guy.
@pass
    pass, forward pass, step, sweep, call, run, iteration, evaluation, invocation, trip, round, forward,
    forward run, cycle, execution, inference, decode step, decoding step, verification pass, read, weight load,
    query, turn, target pass, large model pass, big model pass, full pass, weight read, slow step,
    expensive step.

# who
TARGET
    big, large, main, huge, expensive, heavy, original, full, slow, real, actual, strong, giant, massive,
    target, primary, costly, base, verifier, good, powerful, smart × @model.
    target, verifier, teacher, boss, professor, master, expert, editor, senior, llm, 70b.
DRAFT
    small, smaller, little, tiny, extra, additional, second, helper, assistant, draft, cheap, auxiliary, fast,
    quick, light, lightweight, mini, speculative, weak, weaker, less powerful, less capable, simple, other,
    guessing, proposal, drafting × @model.
    draft, drafter, drafting, proposer, guesser, speculator, helper, assistant, intern, junior, student,
    apprentice, novice, medusa, eagle, extra head, draft head, small head, ngram, n gram, lookup, guess,
    guessing, proposal, proposing, speculation step, predictor, prediction, predicting, candidate, 1b.

# memory
RES
    memory, bandwidth, hbm, vram, dram, memory bus, bus, weight, parameter, params, data movement,
    data transfer, memory traffic, bytes, 140 gb, memory access, moving data, data.
LOAD
    read, load, fetch, stream, move, bring, pull, transfer, shovel, drag, ship, haul, copy, deliver, retrieve,
    reading, loading, go through, sweep over, pass through, drive.
LIMIT
    bound, bottleneck, limit, limiting, constrain, constraint, dominate, wait, waiting, slow, take time,
    take long, set pace, pay for, go into, take millisecond, take most of, not fast enough, not keep up,
    take longest, take forever, cost time, most time, spend time, starve, narrow, dictate, determine, govern,
    set by, choke, hold back, limiting factor, time consuming, is hungry, take most, take longer, long time,
    take ages, expensive part, costly part, slow part, restrict, limitation, cost most, hog, saturate,
    most expensive, main cost, real cost.
COMPUTEBOUND
    compute bound, compute limited, limited by compute, bound by compute.
BOTTLENECK
    bound, bottleneck, limit, constrain, dominate, determine, limiting factor, hold back, set pace.
LIMITBY
    limited by, bound by, wait for, wait on, waiting for, waiting on, constrain by, dominate by, bottleneck,
    limiting factor, constraint, spend time, go into, starve for, starve, govern by, set by, determine by,
    dictate by, slow because, slow due, limit be, hungry for, held back by, choke on, time go, pay for,
    limitation, restrict by, most time, takes time, take long, busy with.
WHATLIMITS
    what limit, that limit, which limit, thing that limit, what slow, what hold, what take, that take,
    what cost, that cost, what dominate.
FETCH
    fetch, fetching weight, stream, transfer, data movement.
MEMBOUND
    memory bound, bandwidth bound, can only read, can only load, can only move, can only deliver, i o problem,
    io problem, i o bound, i o limited, memory limited, bandwidth limited, memory bandwidth bound,
    memory bandwidth limited, io bound, memory wall, memory constrained, starve for data, starve of data,
    wait for data, wait for weight, wait on memory, wait for memory, wait for parameter,
    low arithmetic intensity, under ridge, below ridge, left of ridge.
COMPUTE
    compute, computation, arithmetic, math, multiplication, flop, alu, calculation, calculate, operation,
    tensor core, core, arithmetic unit, computing power, compute power, compute unit, matrix multiplication,
    computing, processing power, calculating, multiplying, compute capacity, computational power,
    arithmetic capacity, matmul.
DEVICE
    gpu, graphics card, chip, processor, hardware, card, accelerator, machine, unit, silicon, device, alu.
IDLE
    idle, idling, unused, utilization be low, low utilization, utilization low, poorly utilized, poorly used,
    be fed, fed with, underutilization, spare, starve, underutilise, underutilize, underused, under used,
    under utilised, under utilized, bored, nothing to do, twiddle, hardly used, barely used, sit, left over,
    leftover, do nothing, lie fallow, surplus, slack, free anyway, sleep, mostly wait, mostly waiting, wait for,
    wait on, waiting for, waiting on, available anyway, unoccupied, twiddle thumb, not busy.
QUICKDONE
    quickly done, microsecond, over long before, done long before, finish long before, quick, fast, ends early,
    hardly matter.
START
    at start, in beginning, at beginning, startup, at first, disk, when started.
EACHTOKEN
    for each, for every, per, every, each, for a single, for one, for single, for just one × token, word,
    new token, new word, pass, step, generated token, single token, single word, forward pass.
    single token, one token, one number, new token.
ONCE
    once, single time, one time, one read, one load, only time, anyway, same read, amortise, amortize.
SAMERES
    same memory traffic, same byte, same data, same weight, same traffic, same data transfer, same weight read,
    same read, same memory access, data transfer be same, traffic be same, reading be same, same amount of data,
    same reading.
MULTI
    several, multiple, many, few, two, three, four, five, six, seven, eight, more than one, them all,
    all of them, them, all position, all token, all guess, whole block, k, n, 2, 3, 4, 5, 6, 7, 8.
LIKEONE
    as, as for, longer than, slower than, more expensive than, longer than for, like, as much as, price of,
    cost of, as to, than to, relative to, as of, time of, as long as, as expensive as × one, single, just one,
    one token, generating, producing, making, writing, thinking, creating, computing, decoding one,
    sampling single, sampling one, write one, make one, generate one, produce one.
    same as usual, as usual.

# parallel
VERIFY
    verify, verification, check, checking, test, score, scoring, evaluate, judge, confirm, validate, validation,
    examine, look at, review, process, grade, assess, inspect, approve, go over, glance, confirming, proofread,
    vet, see whether, read through, compute probability, reads all, read it, read them, tick, testing,
    compute logit, handle, go through, run on all, run on whole, run on draft, run on guess, compare, feed.
ATONCE
    one, single, same, 1, in one, in single × pass, forward pass, go, step, sweep, call, run, shot, look,
    glance, evaluation, batch, trip, swoop, stroke, round, forward run, forward, inference, forward step, time,
    operation.
    one single × pass, forward pass, go, step, call, run, sweep, batch.
    at once, parallel, simultaneously, at same time, together, concurrently, batched, in batch, as batch,
    as block, at glance, in bulk, all in one, en bloc, jointly, side by side.
ONEPASS
    in one, in single, in one single × pass, forward pass, go, step, call, run, sweep, batch.
    at once.
MANY
    several, multiple, many, few, all, k, gamma, n, bunch, handful, block, batch, sequence, whole, entire,
    more than one, them, these, two, three, four, five, six, seven, eight, ten, dozen, both, any number,
    various, 2, 3, 4, 5, 6, 7, 8, 10.
ITEM
    token, word, guess, position, proposal, candidate, draft, prediction, suggestion, drafted, guessed,
    proposed, them.
EXTRA
    extra position, extra token, extra column, additional position, additional token, more position, more token,
    few more, more column, extra guess, extra candidate, additional guess, wider, widen, one or five,
    one or six, one or several, one or many, how many token, how many position, number of position,
    number of token, batch of guess, more row, extra row.
SAMECOST
    as much as, same time, same cost, as long as one, as long as for one, as long as pass, as long as usual,
    as long as single, as long as thinking, as long as making, as long as generating, as long as producing,
    as long as normal, as expensive as, same price, no extra, hardly any, hardly more, hardly longer,
    hardly anything, barely more, barely longer, barely any, little more, little extra, no additional,
    almost no, practically no, practically free, almost nothing, next to nothing, for free, free, no more than,
    no longer than, not more than, not longer than, not more expensive, not matter whether, not matter how many,
    no matter how many, no difference whether, negligible, same duration, same latency, no slower than,
    not slower than, like one, costs like, as fast as, as quick as, as cheap as, near free, nothing extra,
    as costly as, no more time, without extra, without additional, cost same, take same, last same,
    barely slower, hardly slower, equal cost, equally long, price of one, price as one, price of single,
    cost of one, cost of single, comparable, not change time, near same, almost same.
STAYS
    unchanged, constant, same as, regardless, not change, same, no difference, not matter.
PASSCOST
    cost of, price of, duration of, latency of, time of, time per, time for, length of × pass, forward pass,
    step, verification, call, duration, latency, run, check, cost.
    pass cost, pass time, pass take, pass last, pass over, step cost, step take, pass remain, price, latency.
SERIAL
    sequential, sequentially, serial, one by one, token by token, one after another, one after other,
    one at time.

# cheap
CHEAP
    cheap, fast, quick, inexpensive, lightweight, light, speedy, rapid, cost little, little cost, little time,
    hardly any time, hardly anything, next to nothing, negligible, fraction of cost, fraction of time,
    fraction of size, fraction of target, fraction of large, fraction of big, fraction of main, small fraction,
    tiny fraction, time smaller, time faster, time quicker, time cheaper, much smaller, much faster,
    much cheaper, much quicker, far smaller, far cheaper, far faster, way smaller, way faster, so small,
    small compared, no time, barely cost, barely add, barely any, hardly cost, hardly count, hardly matter,
    hardly add, almost free, for free, near free, practically free, few millisecond, few percent, few per cent,
    % of cost, % of pass, % of target, % of large, % of big, % of parameter, % of weight, % of compute,
    no model at, time lighter, more efficient, smaller than large, smaller than big, smaller than main,
    hardly slow, barely slow, fortieth, twentieth, fiftieth, thirtieth, small part, low cost, small cost,
    cost be small, cost be low, cost be tiny, almost no time, almost no cost, almost nothing,
    practically nothing, hardly notice, barely notice, negligible cost, cost very little, take little,
    short time, blink, instant, order of magnitude, orders of magnitude, hundredth, tenth, percent of cost,
    cost almost, cost hardly, cost barely, tiny compared, free, smaller than target, cost nothing, not slow,
    little effort, little overhead, low overhead, small overhead, little compute, tiny cost, tiny price,
    minimal, low latency, trivial, not cost much, not take long, not add much, not much time, not take much,
    small compare, be tiny, much less time, far less time, less time, add little, ms, millisecond,
    small percentage, peanuts.
COMPARATIVE
    faster, quicker, cheaper, lighter, more efficient, speedier, less expensive.
BECAUSE
    because, since, as, due, when, with, thank, by, through, using, than, decoding, generation, speculative.
TOCHECK
    to check, to verify, to test, to confirm, to evaluate, to score.
COSTLY
    expensive, costly, slow, pricey.
CHEAPMODEL
    cheap, fast, faster, quick, inexpensive, lightweight, light, speedy × model, small model, little model,
    drafter, draft, guess, drafting, helper, draft model, assistant, smaller model, tiny model, head, one,
    predictor.

# several
OUT
    settle, spread, amortise, amortize, share.
    get, yield, generation, produce, give, emit, generate, output, come out, advance, jump, accept, kept, keep,
    receive, finish, obtain, move ahead, grow, deliver, write, gain, go ahead, skip ahead, made, result in,
    end up with, commit, land, return, move on, move forward, progress, spit out, left with, get through.
TOKENS
    more than single, to five, to four, to six, to three × token, word, guess.
    several, multiple, many, few, two, three, four, five, six, 2, 3, 4, 5, 6, 8, more than one, or three,
    or four, or five, number of, k, bunch of, handful of, run of, up to five, whole run, couple of, or 4, or 3,
    more, whole block of, dozen, n, chunk of, whole string of, lot of × token, word, accepted token, new token,
    correct token, right token, of them, guess, correct guess, good token, at once, final token, finished token,
    correct word, new word.
    more than one, several tokens, whole run, whole block.
PERPASS
    with one look, in one look, whenever big model run, whenever large model run, whenever target run.
    per, each, every, in one, in single, from one, from each, from every, from single, with one, with each,
    with every, out of one, out of each, out of every, one, single, for one, for each, by one, of one, of each,
    for single, in same, with single, per big, per large, per target, per full, per main, per slow,
    per expensive × @pass, go, time.
    at once, at time, in one go, one forward, each time, every time it, tokens per, per target,
    per verification, per big model.
PERWORD
    per, each, every, one, single, same.
TIMEN
    time, cost, latency.
NOTMANY
    instead of, rather than, not, in place of × hundred, 100, ten, five, four, three, dozen.
ONLYONE
    instead of one, rather than one, in place of one, not one, instead of only one, instead of just one,
    rather than only one, rather than just one, instead of single, rather than single, and not one,
    not only one, from 1, against one, compared to one, for price of one, price of one.
FEWER
    one step, one pass, one call, one run, single pass, single step × where, replace, in place of, do work of.
    fewer time, not as many time, less often, less frequently, not as often, not so often, rarer, more rarely,
    not run for each, seldom, less frequent, once for several, once for few, once for many, once per several,
    once every few, once for every few, once for each few, not run every, not have to run for,
    not need to run for, not have to run every.
COUNT
    number of, amount of, count of, many × @pass, target call, big model call, slow step, large step,
    invocation.
FALLS
    fall, drop, decrease, shrink, reduce, go down, lower, cut, sink, save, third, half, halve, divide.

# check
OUTPUT
    output, result, text, answer, distribution, quality, sample, sequence, accuracy, response, law, probability,
    outcome, what come out, correctness, final text, statistic.
QUALITY
    quality, accuracy, distribution, correctness, output, answer, result, text, law, probability, response,
    precision, outcome, statistic.
DIST
    distribution, probability, law, quality, probability distribution, output distribution, accuracy,
    correctness.
SAME
    same, identical, equal, preserve, intact, match, exact, exactly, as good as, guarantee, indistinguishable,
    keep, maintain, retain, unaffected, unchanged, unaltered, faithful, equivalent, stay, follow, remain,
    come from, untouched.
SAMEAS
    same as, same output, same answer, same result, same text, same token, same distribution, same quality,
    exactly what, identical to, as good as, same probability, unaffected, unchanged, unaltered,
    indistinguishable, equivalent, stay same, remain same, same sample, same law, same probability distribution,
    intact, precisely what, same accuracy, same word, faithful, not distinguish, not tell apart, exactly like.
IFWHEN
    if, when, whenever, whether, as long as, where.
MATCHES
    match, agree, coincide, same, compare, exactly what, just what, precisely what, keep only, accept only,
    kept, accept, only what, only those, equal, until, differ, identical, what, like.
FEWW
    fewer, reduce, less, cut, lower, save, not as many, not so many, spare us, far less, halve, need third,
    need half, need quarter.
PASSN
    pass, step, call, run, iteration, evaluation, invocation, trip, execution, sweep, forward, query.
COSTN
    cost, time, latency, price, duration, precision, layer, parameter, weight, to, quality, memory, size,
    length, ms, per, each, token, word.
BONUS
    one more token, plus one, bonus, one token on top, one on top, plus bonus, one more on top, and one more.
ACCEPTED
    accepted, accept, kept, all guess, right guess, correct guess, guess that, survive.
PASSX
    pass, step, call, run, consult, invoke, evaluation, query, forward, full pass.
EACHTOK
    every token, each token, each single token, every single token, for each word, for every word,
    token by token, single token, every word, each word.
INPUT
    read, see, propose, draft, guess, suggest, process, predict, speculate, look at, check, verify.
THOSE
    those, that, one.
ASIF
    as if, as though.
VETO
    veto, reject, refuse, discard, throw out, throw away, block, strike out, cross out.
UNRELATED
    spell, grammar, prompt, typing, typo.
BOTHM
    two model, both model, chip, many chip.
BENEFIT
    benefit, gain, speed, speedup, advantage, improvement, saving, win, payoff.
DOWN
    shrink, vanish, disappear, be gone, melt, drop, fall, evaporate, zero, little, compress, eaten, erode,
    diminish, small, go away, lose, decrease, limited, not materialize.
NOCASE
    no case, no situation, no circumstance, no scenario, no setting, no condition.
SLOWER
    slower, lose, hurt, slow, not help, cost more.
SAMEOUT
    same output, same result, same answer, same quality, same distribution, identical output, identical result,
    unchanged output, output unchanged.
SELFSAME
    same × token as, text as, answer as, output as, result as, distribution as, word as, quality as,
    sequence as.
FORSAME
    for same, write same, produce same, time same.
CHANGE
    change, alter, differ, affect, suffer, degrade, approximation, worse, deteriorate, sacrifice, compromise,
    distort, bias, lose, loss, touch, harm, hurt, reduce, damage, inferior, drop, decline, approximate.
NOLOSS
    lossless, not tell difference, not tell the difference, nobody can tell, no one can tell, not tell apart,
    nobody notice, have get anyway, have got anyway, have come out anyway, provably exact, be exact,
    provably same, provably identical, exact same output, no price in quality, no cost in quality,
    not at expense of quality, not quality trade, no loss, no quality loss, without loss, without lose,
    without sacrifice, without compromise, nothing lost, nothing be lost, lose nothing, lose no quality,
    no loss of quality, no drop in quality, without change, without alter, no change in, no quality be lost,
    without hurt, without degrade, without affect, no degradation, zero loss, zero quality loss,
    without any loss, without any change, without reduce quality.
WRONG
    wrong, mistake, mismatch, reject, error, incorrect, bad token, bad guess, first wrong, disagree,
    disagreement, divergence, diverge, fail, differ, bad one, failure, rejection.
REPLACE
    replace, correct, put in, insert, continue with, overwrite, substitute, fix, swap, instead, supply,
    override, put right, resample, take its place.
OWN
    own, target, itself, correct token, right token, right word, correct word, its choice, true token,
    proper token, big model word, large model word, correct one, right one, big model, large model, main model,
    big one, large one, verifier, it.
WOULD
    would have, would, would say, would has.
PRODUCE
    write, produce, choose, pick, generate, say, give, output, do, sample, select, come up with, make, predict,
    emit, agree.
KEEP
    keep, accept, use, pass, survive, stay, let through, retain, tick, take, get through, allow, go on, play on,
    sign.
ONLY
    only, just those, as long as, longest, until.
AGREE
    agree, would have, agrees with, match, same as target, approve, in agreement, in line, coincide.
LASTWORD
    last word, final word, final say, last say, final decision, final authority, final judge, last instance.
THROUGH
    get through, reach, slip through, survive, remain, appear, end up in, make it, come through, sneak.

# limits
LOSS
    slower, slow you down, slow us down, no longer offer, rarely benefit, hardly benefit, seldom benefit,
    rarely help, hardly help, rarely pay, hardly pay, seldom help, seldom pay, no gain, no benefit,
    no advantage, no speedup, no speed up, waste, wasted, not help, not pay, not worth, hurt, backfire,
    disappear, vanish, melt away, evaporate, stop paying, stop helping, for nothing, lose time, worse off,
    not free, costs more than, cost more, too expensive, too slow, too costly, no use, useless, pointless,
    fail to pay, harm, counterproductive, overhead outweigh, overhead eat, net loss, not faster, no faster,
    no point, in vain, break even point, gain nothing, get nothing, nothing back, not gain, not benefit,
    not save, not speed, you lose, we lose, lose out, stop working, gain little, bring little, twice,
    switch it off, turn it off, switch off, off again, slow down, slow it down, slow thing down,
    slow everything down, takes longer, take longer, not work, collapse, bring nothing, not profitable, cease,
    not good, eaten, eat away, unprofitable, detrimental, no longer free, no longer help, no longer pay,
    no longer worth, no longer faster, not much gain, not much benefit, little benefit, little gain, run out.
CONDITION
    if, when, whenever, once, unless, under, otherwise, too, in case, case, situation, can, may, might, could,
    with, where, above, below, poor, bad, weak, unlucky, busy, large, high, long, at, on, in, by, for, as,
    or else, sometime, sometimes, often, enough, occasionally, there be.
CAUSE
    batch, batch size, load, acceptance, acceptance rate, accept rate, accept, rejection, reject, rejected, bad,
    poor, wrong, unlucky, mismatch, user, request, server, regime, domain, setting, workload, busy,
    compute bound, high throughput, temperature, creative, disagree, rarely, agree, draft, drafter, guess,
    expert, context, concurrency, saturate, unpredictable, too long, too slow, too big, alpha, short output,
    traffic, throughput, guessing, weak, expensive, helper, assistant, guesser.
PAYS
    effectiveness, effect, efficiency, speed, pay, help, work, worth, worthwhile, faster, fast, good, useful,
    benefit, gain, profitable, speedup, make sense, advantage, win, effective, pay off, save time, beneficial,
    improvement, sensible, better.
ONLYIF
    only if, only when, only while, only with, only as long, as long as, so long as, provided, only where,
    only pays, only help, only work, only worth, only worthwhile, only useful, only make sense, only beneficial,
    only pay, only faster, only under, only for, only good.
ALWAYS
    always, in every case, every case, every situation, in all case, all case, all circumstance,
    any circumstance, no matter what, no matter which, whatever, in any case, every time, any hardware,
    any model, without exception, never fail, guarantee, guaranteed, under all, automatically, invariably,
    all situation, any situation, necessarily, every setting, all setting, any setting, everywhere,
    every workload, any workload.
FASTER
    faster, fast, help, speed, speedup, win, gain, quick, pay, improve, benefit, advantage, save, better, work.
NEVERLOSS
    never slower, never be slower, can not be slower, not ever be slower, not be ever slower, never cost,
    never lose, never hurt, impossible to be slower, can not hurt, can not lose, never slow, no downside,
    no drawback, no disadvantage, can never be slower, never make slower, never slow down, not be slower ever,
    can only be faster, can only help, can only gain, worst case just fast, worst case as fast, no case slower,
    not can be slower, can not get slower, can not slow, can not ever be slow.
RARE
    rarely, hardly, seldom, no longer, scarcely, barely, stop, can not always, not always × benefit, help, pay,
    offer, give speed, give gain, worth, gain.
    no longer give, backfire, stop working, can be slower, may be slower, might be slower, could be slower,
    can even be slower, break even point.
CONDWORD
    if, when, whenever, unless, otherwise, in case, case, situation, can, may, might, could, sometimes,
    sometime, under, beyond, once, too, or else, else, there be, occasionally, often.
DEPEND
    depend, hinge, provided.

# misconceptions
UNCHECKED
    unchecked, unverified, without verification, without check, without checking, without verify,
    without being checked, without being verified, no verification, directly, as they be, nobody check,
    no one check, nobody look, no one look, nobody verify, no one verify, skip verification,
    verification be skip, skip check, verification skip, check be skip, blindly, without ask,
    without further check, trust, no check.
USED
    use, take, output, show, answer, print, keep, token, result, draft, accept, write, see.
NOTNEEDED
    not need, no need, no longer need, not needed any, no longer run, not run any, no longer has to run,
    no longer have to run, superfluous, not required, not necessary, only backup, backup, no longer use,
    not use any, not involved, not asked, not consulted, not even asked, skip big, bypass, unnecessary,
    sits out, redundant, obsolete, turned off, switch off, no longer required, not have to run any.
REPLACES
    replace, in place of, take over from, stand in for.
JUST
    just write, simply write, just give, just take, just produce, just answer, just generate, writes answer,
    write answer, generate answer, produce answer, give answer, write text, generate text, produce text,
    do it all, do all work, does everything, do everything.
SHRINK
    compress, shrink, prune, quantize, quantise, distil, distill, make smaller, make it smaller, become smaller,
    get smaller, become lighter, remove layer, reduce size, cut down, slim, trim, scale down, drop layer,
    become small, shrunk, downsize, strip, lower precision, cut out, remove weight, remove parameter.
BIGTHING
    big, large, main, target, huge, original × @model.
    target, model, network, it, llm.
MAKE
    make, turn, render.
SMALLER
    smaller, small, lighter, light.
QUANT
    quantization, quantisation, distillation, pruning alone.
QLOSS
    quality loss, loss of quality, loss in quality, lose quality, lower quality, lose accuracy, lower accuracy,
    loss of accuracy, worse quality, worse answer, worse output, worse text, less quality, poorer quality,
    accuracy loss, sacrifice quality, sacrifice accuracy, trade quality, trade accuracy, bit of quality,
    bit of accuracy.
WORSE
    worse, poorer, less accurate, less precise, less good, approximation, approximate, inferior, sloppier,
    less correct, less reliable, not good as, degrade.
WEAKWORSE
    drop, suffer, reduce, lower, sacrifice, trade, decrease, compromise, decline.
LESS
    fewer, less, save, reduce, lower, fewer total, cut, shrink, decrease, drop, go down, fall, spare us,
    not have to calculate.
COMPUTING
    computation, compute, arithmetic, calculation, calculate, operation, flop, math, multiplication, computing,
    work to do, arithmetic operation.
BOTH
    both model, two model, both, each of model, each model, two of them, each of two, two network, both network.
SPLIT
    split, divide, halve, half, at same time, simultaneous, parallel, side by side, concurrently, work together,
    take over half, share work, share load.
SPLITWORK
    split work, share work, divide work, work be divide, work be split, work be share, share load, split task,
    share task, divide labour, divide labor, half of work, half of token, half of computation, half of sentence,
    take over half, half of text, half each, do half, each do part, part of work, half of word,
    work be distribute.
"""


def _classes(text: str) -> dict[str, list[str]]:
    """`_LEXICON` by class. Entries end with a full stop: "a, b" are phrases, "a, b × c, d" every pair, "@x" a list."""
    found: dict[str, list[str]] = {}
    for block in re.split(r"\n(?=[@A-Z])", "\n" + text.strip()):
        name, _, body = block.strip().partition("\n")
        lines = [line for line in body.splitlines() if not line.startswith("#")]
        phrases = found.setdefault(name, []) if name else []
        for entry in " ".join(lines).split("."):
            sides = [_list(side, found) for side in entry.split("×")]
            phrases.extend(" ".join(pair) for pair in product(*sides))
    return {name: phrases for name, phrases in found.items() if not name.startswith("@")}


def _list(text: str, known: Mapping[str, list[str]]) -> list[str]:
    parts = [" ".join(part.split()) for part in text.split(",")]
    return [phrase for part in parts if part for phrase in (known[part] if part.startswith("@") else [part])]


def _rule(
    idea: str,
    groups: str,
    window: int = 9,
    *,
    order: bool = False,
    between: str = "",
    before: str = "",
    after: str = "",
    together: bool = False,
) -> Rule:
    return Rule(
        idea,
        tuple(groups.split()),
        window,
        order,
        tuple(between.split()),
        tuple(before.split()),
        tuple(after.split()),
        together,
    )


RULES: tuple[Rule, ...] = (
    # A pass waits for memory.
    _rule("memory", "MEMBOUND", before="IFWHEN ONLYIF"),
    _rule(
        "memory", "RES LIMIT", 7, order=True, together=True, between="COMPUTE START BOTHM DRAFT", before="IFWHEN ONLYIF"
    ),
    _rule("memory", "LIMITBY RES", 6, order=True, together=True, between="COMPUTE DRAFT"),
    _rule("memory", "RES COMPUTE! BOTTLENECK*", 8, order=True),
    _rule("memory", "WHATLIMITS RES", 8, order=True, together=True, between="COMPUTE DRAFT"),
    _rule("memory", "LOAD LIMIT RES", 10, between="START"),
    _rule("memory", "FETCH LIMIT", 4, order=True, between="DRAFT"),
    _rule("memory", "LOAD RES EACHTOKEN", 12, between="DRAFT", before="DRAFT"),
    _rule("memory", "LOAD RES ONCE", 9),
    _rule("memory", "COMPUTE IDLE", 7, before="IFWHEN ONLYIF", between="DRAFT"),
    _rule("memory", "DEVICE IDLE", 6, before="IFWHEN ONLYIF", between="DRAFT", after="DRAFT"),
    _rule("memory", "COMPUTEBOUND!"),
    _rule("memory", "COMPUTE BOTTLENECK!", 6, order=True, between="RES"),
    _rule("memory", "COMPUTE QUICKDONE RES", 12),
    _rule("memory", "SAMERES"),
    # Several positions in one pass.
    _rule("parallel", "VERIFY ATONCE MANY", 10, between="BOTHM", before="BOTHM"),
    _rule("parallel", "VERIFY ATONCE ITEM", 8, between="BOTHM", before="BOTHM"),
    _rule("parallel", "VERIFY ATONCE", 3, between="SERIAL", before="BOTHM"),
    _rule("parallel", "DRAFT ONEPASS TARGET", 8, between="OUT", before="TOKENS"),
    _rule("parallel", "VERIFY* SAMECOST MANY", 10, between="TOKENS LOSS OUTPUT"),
    _rule("parallel", "EXTRA SAMECOST", 12),
    _rule("parallel", "EXTRA STAYS", 10, between="OUTPUT", before="OUTPUT"),
    _rule("parallel", "PASSCOST STAYS", 7, between="DRAFT OUTPUT", before="DRAFT"),
    _rule("parallel", "PASSCOST SAMECOST", 9, between="DRAFT OUTPUT", before="DRAFT"),
    _rule("parallel", "LOAD ONCE MULTI VERIFY", 16, between="OUT"),
    _rule("parallel", "SAMERES MULTI", 10),
    _rule("parallel", "VERIFY* LIKEONE", 9),
    # Drafts cost little.
    _rule("cheap", "CHEAPMODEL", before="VERIFY"),
    _rule("cheap", "DRAFT CHEAP", 9, order=True, between="TARGET VERIFY", before="VERIFY ATONCE", after="TOCHECK"),
    _rule("cheap", "CHEAP DRAFT", 5, order=True, between="TARGET VERIFY"),
    _rule("cheap", "COMPARATIVE DRAFT", 4, order=True, together=True, between="TARGET VERIFY BECAUSE IFWHEN"),
    _rule("cheap", "DRAFT COSTLY!", 6, order=True, between="TARGET VERIFY", before="VERIFY"),
    # More than one token a pass.
    _rule("several", "TOKENS PERWORD PASSN OUT", 10, between="DRAFT VERIFY", before="DRAFT INPUT VERIFY"),
    _rule("several", "TOKENS PERPASS OUT", 10, between="DRAFT VERIFY", before="DRAFT INPUT VERIFY"),
    _rule("several", "TOKENS PERPASS", 3, order=True, between="DRAFT", before="DRAFT INPUT VERIFY"),
    _rule("several", "TOKENS ONLYONE", 9, order=True, before="VERIFY"),
    _rule("several", "FEWER"),
    _rule("several", "FEWW PASSN", 5, order=True, together=True, between="DRAFT COSTN", after="TIMEN RES DRAFT"),
    _rule("several", "COUNT FALLS", 8),
    _rule("several", "NOTMANY PASSN", 4, order=True, between="DRAFT COSTN"),
    _rule("several", "ONCE OUT TOKENS", 8, order=True, between="DRAFT VERIFY"),
    _rule("several", "ACCEPTED BONUS", 7),
    _rule("several", "PASSX! EACHTOK*", 6, order=True, together=True, between="DRAFT VERIFY", before="DRAFT VERIFY"),
    # What comes out is what the large model gives.
    _rule("check", "NOLOSS"),
    _rule("check", "SAMEOUT", before="IFWHEN FORSAME DRAFT BOTHM"),
    _rule("check", "SELFSAME", before="IFWHEN FORSAME DRAFT"),
    _rule("check", "DIST SAME", 8, before="FORSAME DRAFT", between="BOTHM"),
    _rule("check", "OUTPUT SAMEAS", 6, between="FORSAME VERIFY", before="IFWHEN FORSAME DRAFT"),
    _rule("check", "OUTPUT THOSE TARGET", 6, order=True, between="DRAFT"),
    _rule("check", "ASIF TARGET", 5, order=True),
    _rule("check", "VETO WOULD* PRODUCE*", 9, order=True),
    _rule("check", "QUALITY* CHANGE!", 7),
    _rule("check", "CHANGE! QUALITY*", 5, order=True),
    _rule("check", "WRONG REPLACE OWN", 12, between="UNRELATED", after="UNRELATED"),
    _rule("check", "WOULD PRODUCE TARGET", 8, between="IFWHEN"),
    _rule("check", "MATCHES WOULD PRODUCE", 7, order=True),
    _rule("check", "ONLY KEEP AGREE", 10),
    _rule("check", "LASTWORD"),
    _rule("check", "WRONG THROUGH!", 8),
    # When it does not pay.
    _rule("limits", "LOSS CONDITION* CAUSE*", 18, between="DIST"),
    _rule("limits", "LOSS CONDWORD*", 7, between="DIST"),
    _rule("limits", "ONLYIF* PAYS", 6),
    _rule("limits", "RARE"),
    _rule("limits", "BENEFIT DOWN CONDITION*", 10, between="DIST", before="DIST"),
    _rule("limits", "ALWAYS! FASTER*", 6),
    _rule("limits", "DEPEND CAUSE* PAYS", 14),
    # Misconceptions.
    _rule("unchecked", "DRAFT UNCHECKED", 14),
    _rule("unchecked", "TARGET NOTNEEDED", 6),
    _rule("unchecked", "DRAFT USED VERIFY!", 12),
    _rule("unchecked", "DRAFT JUST", 4, order=True),
    _rule("unchecked", "DRAFT REPLACES TARGET", 4, order=True),
    _rule("smaller", "SHRINK BIGTHING", 5, before="QUANT"),
    _rule("smaller", "MAKE BIGTHING SMALLER", 5, order=True, before="QUANT"),
    _rule("always", "ALWAYS FASTER", 7, between="VERIFY", before="VERIFY"),
    _rule("always", "NEVERLOSS"),
    _rule("always", "NOCASE SLOWER*", 8, order=True),
    _rule("worse", "QUALITY WORSE", 9, between="DRAFT"),
    _rule("worse", "QUALITY WEAKWORSE", 4),
    _rule("worse", "QLOSS"),
    _rule("less_compute", "LESS COMPUTING", 4),
    _rule("less_compute", "COMPUTING LESS", 4, order=True),
    _rule("side_by_side", "BOTH SPLIT", 6, between="VERIFY RES"),
    _rule("side_by_side", "SPLITWORK"),
)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The stemmed lexicon, made when first asked for."""
    return Lexicon(_classes(_LEXICON), RULES)
