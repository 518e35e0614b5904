// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// wide is a deployment of 100 stages, ten in each layer, of which the first half is done.
func wide(application string) *deckv1.Deployment {
	d := decktest.Canary()
	d.Id, d.ApplicationId, d.ApplicationName = "dep-"+application, application, application
	d.Stages = nil
	for i := range 100 {
		stage := &deckv1.Stage{Id: fmt.Sprintf("s%d", i), Name: "SCRIPT_RUN", Desc: fmt.Sprintf("Part %d", i),
			Index: int32(i), Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED}
		switch {
		case i < 50:
			stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
			stage.StartedAt, stage.CompletedAt = decktest.At(float64(i)), decktest.At(float64(i+1))
		case i < 53:
			stage.Status, stage.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, decktest.At(60)
		}
		for need := range 2 {
			if i >= 10 {
				stage.Requires = append(stage.Requires, fmt.Sprintf("s%d", i/10*10-10+(i+need)%10))
			}
		}
		d.Stages = append(d.Stages, stage)
	}
	return d
}

// cpuOfThread is the CPU time that the present thread has used.
func cpuOfThread(b *testing.B) time.Duration {
	b.Helper()
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		b.Skip("this system does not count the time of threads")
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkUpdateAndViewOfAThousandApplications takes a change of one deployment and draws the screen.
func BenchmarkUpdateAndViewOfAThousandApplications(b *testing.B) {
	m := still(b)
	m.size(200, 60)
	m.see(decktest.Running()...)
	var deployments []*deckv1.Deployment
	for i := range 1000 {
		application := decktest.Application()
		application.Id = fmt.Sprintf("app-%03d", i)
		application.Name = application.Id
		d := wide(application.Id)
		deployments = append(deployments, d)
		m.receive(application, d)
	}
	m.key("1", "down")
	require.NotEmpty(b, m.View().Content)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	n := 0
	for b.Loop() {
		d := deployments[n%len(deployments)]
		n++
		d.Stages[50].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING + deckv1.StageStatus(n%2)
		events := decktest.Events(d)
		began := cpuOfThread(b)
		m.Update(eventsMsg{events})
		_ = m.View()
		took = append(took, cpuOfThread(b)-began)
	}
	slices.Sort(took)
	total := time.Duration(0)
	for _, d := range took {
		total += d
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(len(took)), "cpu-ms/mean")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "cpu-ms/p99")
}
