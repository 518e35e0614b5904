// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// controls writes the files that the kernel makes in a control group.
func controls(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return string(data)
}

func TestPipedMakesRoomForGroupsOfPlugins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	controls(
		t, dir,
		map[string]string{
			"cgroup.controllers": "cpuset cpu io memory pids\n", "cgroup.procs": "77\n", "cgroup.subtree_control": "",
		},
	)
	controls(t, filepath.Join(dir, "piped"), map[string]string{"cgroup.procs": ""})
	_, err := prepareCgroups(dir, 77)
	require.NoError(t, err)
	require.Equal(t, "77", read(t, dir, "piped", "cgroup.procs"))
	require.Equal(t, "+cpu +memory +pids", read(t, dir, "cgroup.subtree_control"))

	_, err = prepareCgroups(dir, 78)
	require.ErrorContains(t, err, "process 77 shares the control group")
	controls(t, dir, map[string]string{"cgroup.controllers": "cpuset memory\n"})
	_, err = prepareCgroups(dir, 77)
	require.ErrorContains(t, err, "has no controller for cpu")
	_, err = prepareCgroups(filepath.Join(dir, "nothing"), 77)
	require.ErrorContains(t, err, "there is no cgroup v2")
}

func TestAGroupGetsTheLimitsAndReportsItsMemory(t *testing.T) {
	t.Parallel()
	group := &cgroup{dir: t.TempDir()}
	controls(
		t, group.dir,
		map[string]string{
			"memory.max": "", "memory.oom.group": "", "memory.swap.max": "", "cpu.max": "", "pids.max": "",
			"memory.events": "low 0\noom 1\noom_kill 0\n",
		},
	)
	l := limits{memory: 1 << 30, cpu: 0.5, pids: 100}
	require.NoError(t, group.limit(l))
	for file, want := range map[string]string{
		"memory.max": "1073741824", "memory.oom.group": "1", "memory.swap.max": "0", "cpu.max": "50000 100000",
		"pids.max": "100",
	} {
		require.Equal(t, want, read(t, group.dir, file), file)
	}
	room := confinement{limits: l, group: group}
	require.Empty(t, room.exhausted(&ExitError{Signal: "SIGKILL"}))
	controls(t, group.dir, map[string]string{"memory.events": "low 0\noom 1\noom_kill 2\n"})
	require.Equal(t, "it needed more memory than its limit of 1024 MiB", room.exhausted(&ExitError{Signal: "SIGKILL"}))
	controls(t, group.dir, map[string]string{"memory.events": "oom_kill 0\n", "pids.events": "max 3\n"})
	require.Equal(t, "it needed more processes and threads than its limit of 100", room.exhausted(&ExitError{Code: 2}))
	require.Empty(t, room.exhausted(&ExitError{Signal: "SIGKILL"}))
}

func TestGoProgramsGetTheirLimits(t *testing.T) {
	t.Parallel()
	require.Equal(
		t, []string{"GOMEMLIMIT=943718400", "GOMAXPROCS=2"},
		confinement{limits: limits{memory: 1000 << 20, cpu: 1.5}}.environment(),
	)
	require.Empty(t, confinement{}.environment())
}

func TestMemoryThatHadRunOutIsTheReasonOfAnEnd(t *testing.T) {
	t.Parallel()
	exit := &ExitError{Plugin: "p", Signal: "SIGKILL", Exhausted: "it needed more", LastOutput: []string{"x"}}
	require.EqualError(t, exit, `plugin "p" was ended by the kernel because it needed more; its last output: x`)
}
