// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// quick are resources that take no time.
func quick(n int) string {
	return fmt.Sprintf("resource \"terraform_data\" \"quick\" {\n  count = %d\n  input = \"${count.index}\"\n}\n", n)
}

// many has resources of which five take a second each, one after the other, as those of a cloud do.
func many() map[string]string {
	var b strings.Builder
	b.WriteString(quick(100))
	before := "quick"
	for i := range 5 {
		fmt.Fprintf(&b, "resource \"terraform_data\" \"slow%d\" {\n  depends_on = [terraform_data.%s]\n"+
			"  provisioner \"local-exec\" { command = \"sleep 1\" }\n}\n", i, before)
		before = fmt.Sprintf("slow%d", i)
	}
	return map[string]string{"main.tf": b.String()}
}

// BenchmarkOverhead compares the stages with the program alone, in turns.
func BenchmarkOverhead(b *testing.B) {
	w := start(b)
	c := w.commit("1111111111", "{}", many())
	var ours, bare, init []time.Duration
	for b.Loop() {
		require.NoError(b, os.RemoveAll(filepath.Join(w.dir, "states")))
		w = w.next()
		began := time.Now()
		require.Equal(b, succeeded, w.run(plan, "{}", sdktest.Change{Target: c}).Status)
		require.Equal(b, succeeded, w.run(apply, "{}", sdktest.Change{Target: c}).Status)
		ours = append(ours, time.Since(began))

		dir := filepath.Join(b.TempDir(), "app")
		require.NoError(b, os.CopyFS(dir, os.DirFS(c.Dir)))
		init = append(init, timed(b, dir, "init", "-input=false"))
		bare = append(bare, timed(b, dir, "plan", "-input=false", "-out=saved")+
			timed(b, dir, "apply", "-input=false", "saved"))
	}
	alone, with := middle(bare), middle(ours)
	b.ReportMetric(alone, "ms-plan+apply")
	b.ReportMetric(middle(init), "ms-init")
	b.ReportMetric(with, "ms-stages")
	b.ReportMetric(100*(with-alone)/alone, "%-over-plan+apply")
	b.ReportMetric(0, "ns/op")
}

// timed is how long the program takes in a directory.
func timed(b *testing.B, dir string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(tofu(b), args...)
	cmd.Dir = dir
	began := time.Now()
	output, err := cmd.CombinedOutput()
	require.NoError(b, err, string(output))
	return time.Since(began)
}

// middle is the median in milliseconds.
func middle(all []time.Duration) float64 {
	return float64(slices.Sorted(slices.Values(all))[len(all)/2].Microseconds()) / 1000
}

// BenchmarkDrift measures a look at an application that has not changed, and what 50 of them cost at the default
// interval, for applications of several sizes.
func BenchmarkDrift(b *testing.B) {
	for _, resources := range []int{10, 100} {
		b.Run(fmt.Sprintf("%d-resources", resources), func(b *testing.B) { benchmarkDrift(b, resources) })
	}
}

func benchmarkDrift(b *testing.B, resources int) {
	const applications = 50
	w := start(b)
	w.options.Config = map[string]any{"binary": tofu(b), "workDir": w.dir, "driftInterval": "1ns"}
	w = w.next()
	c := w.commit("1111111111", "{}", map[string]string{"main.tf": quick(resources)})
	require.Equal(b, succeeded, w.run(apply, "", sdktest.Change{Target: c}).Status)
	w.livestate(c)
	own, children := spent(b, syscall.RUSAGE_SELF), spent(b, syscall.RUSAGE_CHILDREN)
	n := 0
	for ; b.Loop(); n++ {
		w.livestate(c)
	}
	own, children = spent(b, syscall.RUSAGE_SELF)-own, spent(b, syscall.RUSAGE_CHILDREN)-children
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	b.ReportMetric(each(own), "ms-CPU-plugin/look")
	b.ReportMetric(each(children), "ms-CPU-program/look")
	core := float64(defaultInterval.Milliseconds()) / 100
	b.ReportMetric(each(own)*applications/core, "%-core-plugin")
	b.ReportMetric(each(children)*applications/core, "%-core-program")
	b.ReportMetric(0, "ns/op")
}

// spent is the CPU time of this process, or of its children that have ended.
func spent(b *testing.B, who int) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(who, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
