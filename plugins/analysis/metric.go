// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/compare"
	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
)

// metric evaluates one metric of a stage.
type metric struct {
	config   config.Metric
	provider provider.Metrics
	// first is the side that is judged, second the one it is compared with.
	first, second side
	// previous is the start of the last successful analysis (PREVIOUS); the zero time when there is none.
	previous time.Time
}

// side is one group of samples: what it is called, and its query.
type side struct{ name, query string }

// newMetric returns the analyzer of a metric whose template is resolved.
func newMetric(name string, m *config.StageMetric, metrics provider.Metrics, variables config.Variables,
	previous time.Time) (*analyzer, error) {
	it := &metric{config: m.Metric, provider: metrics, previous: previous}
	if err := it.fill(variables); err != nil {
		return nil, err
	}
	a := &analyzer{
		name: name, about: it.about(), strategy: m.Strategy, interval: m.Interval.Std(), failureLimit: m.FailureLimit,
		skipOnNoData: m.SkipOnNoData, looksBack: true, evaluate: it.threshold,
	}
	switch {
	case m.Strategy == config.Previous:
		a.evaluate = it.withPrevious
	case m.Compares():
		a.evaluate = it.withVariant
		if it.first.query == it.second.query {
			a.doubt = "the query " + config.ComparesItself
		}
	default:
		a.strategy, a.min, a.max = config.Threshold, m.Expected.Min, m.Expected.Max
	}
	return a, nil
}

// fill fills the variables of the queries in.
func (m *metric) fill(variables config.Variables) (err error) {
	c := &m.config
	switch c.Strategy {
	case config.CanaryBaseline:
		m.first.name, m.second.name = "canary", "baseline"
		if m.second.query, err = variables.Of("baseline", c.BaselineArgs).Fill(c.Query); err != nil {
			return err
		}
	case config.CanaryPrimary:
		m.first.name, m.second.name = "canary", "primary"
		if m.second.query, err = variables.Of("primary", c.PrimaryArgs).Fill(c.Query); err != nil {
			return err
		}
	case config.Previous:
		m.first.name, m.second.name = "now", "the previous analysis"
		m.first.query, err = variables.Fill(c.Query)
		m.second.query = m.first.query
		return err
	default:
		m.first.query, err = variables.Fill(c.Query)
		return err
	}
	m.first.query, err = variables.Of("canary", c.CanaryArgs).Fill(c.Query)
	return err
}

func (m *metric) about() string {
	if m.second.query == "" || m.second.query == m.first.query {
		return oneLine(m.first.query)
	}
	return fmt.Sprintf("%s (%s), %s (%s)", oneLine(m.first.query), m.first.name, oneLine(m.second.query), m.second.name)
}

// query asks about the interval that ends at a time.
func (m *metric) query(ctx context.Context, query string, end time.Time) (*provider.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, config.QueryTimeout(m.config.Timeout.Std()))
	defer cancel()
	return m.provider.Query(ctx, query, provider.Range{
		From: end.Add(-m.config.Interval.Std()), To: end, Step: m.config.SampleStep(), AnyStep: m.config.Step == 0,
	})
}

// threshold compares each sample with the limits.
func (m *metric) threshold(ctx context.Context, at moment) outcome {
	answer, err := m.query(ctx, m.first.query, at.now)
	if err != nil {
		return outcome{verdict: failed, text: err.Error()}
	}
	expected := m.config.Expected
	if len(answer.Points) == 0 {
		return outcome{verdict: noData, text: none(answer) + ", expected " + limits(expected), remarks: answer.Warnings}
	}
	shown := summary(answer.Values())
	o := outcome{verdict: good, shown: shown, remarks: answer.Warnings}
	o.text = fmt.Sprintf("%s (%s), expected %s", span(shown), counted(answer), limits(expected))
	switch {
	case expected.Min != nil && shown.Low < *expected.Min:
		o.verdict, o.text = bad, o.text+": "+number(shown.Low)+" is too low"
	case expected.Max != nil && shown.High > *expected.Max:
		o.verdict, o.text = bad, o.text+": "+number(shown.High)+" is too high"
	}
	return o
}

// withVariant compares two variants at the same time.
func (m *metric) withVariant(ctx context.Context, at moment) outcome {
	return m.compare(ctx, at.now, at.now)
}

// withPrevious compares with the last successful analysis when it was as far as this one.
func (m *metric) withPrevious(ctx context.Context, at moment) outcome {
	if m.previous.IsZero() {
		return outcome{verdict: good, over: true, text: "there is no earlier successful analysis to compare with"}
	}
	return m.compare(ctx, at.now, m.previous.Add(at.elapsed))
}

func (m *metric) compare(ctx context.Context, end, otherEnd time.Time) outcome {
	one, err := m.query(ctx, m.first.query, end)
	if err != nil {
		return outcome{verdict: failed, text: m.first.name + ": " + err.Error()}
	}
	other, err := m.query(ctx, m.second.query, otherEnd)
	if err != nil {
		return outcome{verdict: failed, text: m.second.name + ": " + err.Error()}
	}
	for _, each := range []struct {
		name   string
		answer *provider.Answer
	}{{m.first.name, one}, {m.second.name, other}} {
		if len(each.answer.Points) == 0 {
			return outcome{verdict: noData, text: each.name + ": " + none(each.answer), remarks: each.answer.Warnings}
		}
	}
	first, second, each := independent(one, other)
	result, err := compare.Test(first, second, deviation(m.config.Deviation))
	if err != nil {
		return outcome{verdict: failed, text: err.Error()}
	}
	o := m.judge(one, other, result)
	if each > 1 {
		o.text += fmt.Sprintf("; one sample in %d counts, because they are repeated until the next scrape", each)
	}
	o.remarks = slices.Concat(one.Warnings, other.Warnings)
	return o
}

// independent are the samples of two answers without those that only repeat others: one in each counts. A comparison
// keeps as many as it needs, or it could never fail.
func independent(one, other *provider.Answer) (first, second []float64, each int) {
	a, b := one.Held(), other.Held()
	for each = compare.Repeats(slices.Concat(a, b)); each > 1; each-- {
		first, second = compare.Every(a, each), compare.Every(b, each)
		if min(len(first), len(second)) >= config.MinSamples {
			return first, second, each
		}
	}
	return one.Values(), other.Values(), 1
}

func (m *metric) judge(one, other *provider.Answer, result compare.Result) outcome {
	shown, second := summary(one.Values()), summary(other.Values())
	shown.Other = &second.Value
	text := fmt.Sprintf("%s has the median %s (%s), %s has %s (%s)", m.first.name, number(shown.Value), counted(one),
		m.second.name, number(second.Value), counted(other))
	p := fmt.Sprintf("p = %.4g, limit %v", result.P, compare.Alpha)
	switch {
	case result.TooFew:
		return outcome{verdict: noData, shown: shown,
			text: text + ": too few samples for any difference to be significant"}
	case result.Differs:
		return outcome{verdict: bad, shown: shown, text: fmt.Sprintf("%s: %s is %s (%s)", text, m.first.name,
			direction(m.config.Deviation), p)}
	}
	return outcome{verdict: good, shown: shown, text: fmt.Sprintf("%s: not significantly %s (%s)", text,
		direction(m.config.Deviation), p)}
}

func deviation(name string) compare.Deviation {
	switch name {
	case config.High:
		return compare.High
	case config.Low:
		return compare.Low
	}
	return compare.Either
}

func direction(name string) string {
	switch name {
	case config.High:
		return "higher"
	case config.Low:
		return "lower"
	}
	return "different"
}

func limits(expected *config.Expected) string {
	switch {
	case expected.Min != nil && expected.Max != nil:
		return number(*expected.Min) + " to " + number(*expected.Max)
	case expected.Min != nil:
		return "at least " + number(*expected.Min)
	}
	return "at most " + number(*expected.Max)
}

func span(p *point) string {
	if p.Low == p.High {
		return number(p.Low)
	}
	return number(p.Low) + " to " + number(p.High)
}

func counted(answer *provider.Answer) string {
	text := fmt.Sprintf("%d samples", len(answer.Points))
	if len(answer.Points) == 1 {
		text = "1 sample"
	}
	if answer.Series > 1 {
		text += fmt.Sprintf(" of %d series", answer.Series)
	}
	if answer.NotNumbers > 0 {
		text += fmt.Sprintf(", and %d of NaN", answer.NotNumbers)
	}
	if answer.Outside > 0 {
		text += fmt.Sprintf(", and %d of another time", answer.Outside)
	}
	return text
}

func none(answer *provider.Answer) string {
	switch {
	case answer.Outside > 0:
		return fmt.Sprintf("no samples of the time that was asked about, and %d of another time", answer.Outside)
	case answer.NotNumbers == 1:
		return "the only sample is NaN"
	case answer.NotNumbers > 0:
		return fmt.Sprintf("all %d samples are NaN", answer.NotNumbers)
	case answer.Series > 0:
		return "no samples"
	}
	return "no series"
}

// number writes a value in at most six digits. The greatest number stands for infinity, which is not a number of JSON.
func number(value float64) string {
	if math.Abs(value) == math.MaxFloat64 {
		value *= 2
	}
	return strconv.FormatFloat(value, 'g', 6, 64)
}

// maxQuery bounds what is shown of a query, in bytes.
const maxQuery = 1 << 10

// oneLine makes one bounded line of a query.
func oneLine(query string) string {
	line := strings.Join(strings.Fields(query), " ")
	if len(line) > maxQuery {
		line = strings.ToValidUTF8(line[:maxQuery], "") + "…"
	}
	return line
}
