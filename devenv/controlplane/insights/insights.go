// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package insights

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Outcome is how a deployment ended.
type Outcome int

// The outcomes. A cancelled deployment is neither a success nor a failure.
const (
	Succeeded Outcome = iota
	Failed
	Cancelled
)

// Deployment is one that has ended.
type Deployment struct {
	ApplicationID, ApplicationName string
	Outcome                        Outcome
	Created, Ended                 time.Time
	// Commit is the hash of the commit that it deployed, Committed its time.
	Commit    string
	Committed time.Time
	// First: nothing of the application was deployed before. Its commit may be as old as the repository.
	First bool
	// Again: it retries a deployment, or rolls the application back to one.
	Again bool
}

const (
	// parts is how many parts of the period are counted apart.
	parts = 24
	// leastPeriod and leastSuccesses are those of a rate: below, it would say nothing.
	leastPeriod    = time.Hour
	leastSuccesses = 2
)

// Measure returns the figures of a history, in any order, until now.
func Measure(history []Deployment, now time.Time) *deckv1.GetInsightsResponse {
	history = slices.SortedFunc(slices.Values(history), func(a, b Deployment) int {
		return cmp.Or(a.Ended.Compare(b.Ended), a.Created.Compare(b.Created), cmp.Compare(a.Commit, b.Commit))
	})
	report := &deckv1.GetInsightsResponse{All: &deckv1.Insight{}, To: timestamppb.New(now)}
	if len(history) == 0 {
		return report
	}
	from := slices.MinFunc(history, func(a, b Deployment) int { return a.Created.Compare(b.Created) }).Created
	report.From = timestamppb.New(from)
	whole := period{from, now}
	byApplication := map[string][]Deployment{}
	for _, d := range history {
		byApplication[d.ApplicationID] = append(byApplication[d.ApplicationID], d)
	}
	var all times
	for id, own := range byApplication {
		one, found := whole.count(own), timesOf(own)
		one.ApplicationId, one.ApplicationName = id, own[len(own)-1].ApplicationName
		found.write(one)
		report.Applications = append(report.Applications, one)
		all.add(found)
	}
	slices.SortFunc(report.Applications, func(a, b *deckv1.Insight) int {
		return cmp.Or(cmp.Compare(a.GetApplicationName(), b.GetApplicationName()),
			cmp.Compare(a.GetApplicationId(), b.GetApplicationId()))
	})
	report.All = whole.count(history)
	all.write(report.All)
	return report
}

// period is the time over which deployments are counted.
type period struct{ from, to time.Time }

// count returns the figures that are numbers of deployments.
func (p period) count(history []Deployment) *deckv1.Insight {
	out := &deckv1.Insight{SucceededParts: make([]uint32, parts), FailedParts: make([]uint32, parts)}
	for _, d := range history {
		switch d.Outcome {
		case Succeeded:
			out.Succeeded++
			out.SucceededParts[p.part(d.Ended)]++
		case Failed:
			out.Failed++
			out.FailedParts[p.part(d.Ended)]++
		default:
			out.Cancelled++
		}
	}
	if length := p.to.Sub(p.from); length >= leastPeriod && out.Succeeded >= leastSuccesses {
		out.DeploymentsADay = float64(out.Succeeded) / (length.Hours() / 24)
	}
	return out
}

// part is the number of the part of the period in which a time is.
func (p period) part(at time.Time) int {
	length := max(1, p.to.Sub(p.from))
	return max(0, min(parts-1, int(parts*float64(at.Sub(p.from))/float64(length))))
}

// times are the durations of which a median is taken, and how many applications wait for a success.
type times struct {
	lead, restore []time.Duration
	failing       uint32
}

// timesOf measures one application. Its history is sorted by end.
func timesOf(history []Deployment) (t times) {
	var broken time.Time // the end of the first failure after the last success
	brought := map[string]bool{}
	for _, d := range history {
		switch d.Outcome {
		case Failed:
			if broken.IsZero() {
				broken = d.Ended
			}
		case Succeeded:
			if !broken.IsZero() {
				t.restore = append(t.restore, d.Ended.Sub(broken))
				broken = time.Time{}
			}
			if !brought[d.Commit] && !d.First && !d.Again && !d.Committed.IsZero() {
				t.lead = append(t.lead, max(0, d.Ended.Sub(d.Committed)))
			}
			brought[d.Commit] = true
		}
	}
	if !broken.IsZero() {
		t.failing = 1
	}
	return t
}

func (t *times) add(other times) {
	t.lead, t.restore = append(t.lead, other.lead...), append(t.restore, other.restore...)
	t.failing += other.failing
}

func (t *times) write(out *deckv1.Insight) {
	out.LeadTime, out.LeadTimes = median(t.lead), uint32(len(t.lead))
	out.RestoreTime, out.RestoreTimes = median(t.restore), uint32(len(t.restore))
	out.Failing = t.failing
}

// median is the middle one, or the mean of both in the middle; nil for none.
func median(all []time.Duration) *durationpb.Duration {
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	half := len(all) / 2
	if len(all)%2 == 1 {
		return durationpb.New(all[half])
	}
	return durationpb.New((all[half-1] + all[half]) / 2)
}
