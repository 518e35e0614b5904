// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/auto"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// healthy is a machine that lacks nothing, with a doctor who is asked for one kind cluster.
func healthy(t *testing.T) *Doctor {
	t.Helper()
	return &Doctor{
		StateDir: t.TempDir(), Clusters: []cluster.Kind{cluster.InDocker},
		Engine: found(engine.Engine{Name: "docker", Version: "28.2.2", CgroupVersion: 2, Root: "/var/lib/docker",
			Memory: 8 * gib}),
		Programs: func() (string, error) { return "piped and 4 plugins in /usr/lib/pipedeck/bin", nil },
		Embedded: func() (*embedded.Found, error) {
			return &embedded.Found{Path: "/usr/lib/pipedeck/bin/embeddedk8s"}, nil
		},
		System: System{
			ReadFile: func(path string) ([]byte, error) {
				if strings.HasSuffix(path, "max_user_instances") {
					return []byte("128\n"), nil
				}
				return []byte("65536\n"), nil
			},
			Getenv: variables("TERM", "xterm-256color"),
			Run: programs(map[string]string{
				"git": "git version 2.39.5\n", "go": "go1.26.8\n", "docker": "web\nkind-control-plane\n",
			}),
			Free:    func(context.Context, string) (uint64, error) { return 100 * gib, nil },
			Memory:  func(context.Context) (uint64, error) { return 8 * gib, nil },
			Listen:  func() error { return nil },
			Watch:   func() error { return nil },
			Mount:   func(string) (Mount, error) { return Mount{Writable: true, Executable: true}, nil },
			Orphans: func(*workspace.Workspace) []string { return nil },
		},
	}
}

func found(e engine.Engine) func(context.Context) (*engine.Engine, error) {
	return func(context.Context) (*engine.Engine, error) { return &e, nil }
}

func failing(err error) func(context.Context) (*engine.Engine, error) {
	return func(context.Context) (*engine.Engine, error) { return nil, err }
}

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		if i := slices.Index(pairs, name); i >= 0 {
			return pairs[i+1]
		}
		return ""
	}
}

func one(kind cluster.Kind) []cluster.Kind { return []cluster.Kind{kind} }

func mounted(m Mount) func(string) (Mount, error) {
	return func(string) (Mount, error) { return m, nil }
}

// lost is a pipedeck without the embedded Kubernetes and without its sources.
func lost() (*embedded.Found, error) {
	return nil, &cluster.HintError{Err: embedded.ErrNoProgram, Hint: "clone it"}
}

// uncompiled is the embedded Kubernetes of this checkout, which has to be compiled first.
func uncompiled(t *testing.T) func() (*embedded.Found, error) {
	t.Helper()
	program, err := embedded.FromCheckout(".")
	require.NoError(t, err)
	program.CacheDir = t.TempDir()
	return program.Look
}

func programs(output map[string]string) engine.Command {
	return func(_ context.Context, name string, _ ...string) ([]byte, error) {
		out, ok := output[name]
		if !ok {
			return nil, errors.New("not found")
		}
		return []byte(out), nil
	}
}

func free(bytes uint64) func(context.Context, string) (uint64, error) {
	return func(context.Context, string) (uint64, error) { return bytes, nil }
}

func check(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, "no check %s in %v", name, checks)
	return checks[i]
}

func TestAHealthyMachineIsOKInOneLineForEachCheck(t *testing.T) {
	t.Parallel()
	checks := healthy(t).Examine(t.Context())
	require.GreaterOrEqual(t, len(checks), 11)
	for _, c := range checks {
		require.Equal(t, OK, c.State, "%v", c)
		require.NotEmpty(t, c.Found, c.Name)
		require.NotContains(t, c.String(), "\n")
		require.Empty(t, c.Why+c.Fix)
	}
	require.Empty(t, healthy(t).Preflight(t.Context()))
}

func TestTheContainerEngineConcernsOnlyThoseWhoUseKind(t *testing.T) {
	t.Parallel()
	for _, kind := range []cluster.Kind{cluster.None, cluster.Embedded, cluster.Existing} {
		d := healthy(t)
		d.Engine = failing(&engine.NotAnsweringError{Engine: "docker", Err: errors.New("Cannot connect")})
		d.Clusters = []cluster.Kind{kind}
		for _, c := range d.Examine(t.Context()) {
			require.Equal(t, OK, c.State, "%v", c)
			require.NotContains(t, c.String(), "docker")
		}
	}
}

func TestEachFindingSaysWhatItIsAndHowToFixIt(t *testing.T) {
	t.Parallel()
	silent := func(words string) error { return &engine.NotAnsweringError{Engine: "docker", Err: errors.New(words)} }
	cgroup1 := engine.Engine{Name: "docker", Version: "28.2.2", CgroupVersion: 1}
	for name, c := range map[string]struct {
		change     func(*Doctor)
		check      string
		state      State
		found, fix string
	}{
		"no engine": {func(d *Doctor) { d.Engine = failing(engine.ErrNone) }, "container engine", Fail,
			"none is installed", installEngine},
		"no engine, auto": {func(d *Doctor) {
			d.Engine, d.Clusters = failing(engine.ErrNone),
				[]cluster.Kind{auto.Kind}
		}, "container engine", OK, "auto uses the embedded", ""},
		"a stopped engine": {func(d *Doctor) { d.Engine = failing(silent("Cannot connect")) }, "container engine",
			Fail, "Cannot connect", startDocker},
		"a stopped one, auto": {func(d *Doctor) {
			d.Engine, d.Clusters = failing(silent("no")),
				[]cluster.Kind{auto.Kind}
		}, "container engine", Warn, "does not answer", startDocker},
		"a forbidden engine": {func(d *Doctor) { d.Engine = failing(silent("permission denied while trying")) },
			"container engine", Fail, "permission denied", "usermod"},
		"an old engine": {func(d *Doctor) { d.Engine = found(engine.Engine{Name: "docker", Version: "19.03.15"}) },
			"container engine", Warn, "19.03", "newer docker"},
		"an odd engine": {func(d *Doctor) { d.Engine = found(engine.Engine{Name: "nerdctl", Version: "dev"}) },
			"container engine", OK, "nerdctl dev", ""},
		"cgroups of old": {func(d *Doctor) { d.Engine = found(cgroup1) }, "cgroups", Fail, "version 1",
			oldNodeImage},
		"the same, auto": {func(d *Doctor) { d.Engine, d.Clusters = found(cgroup1), []cluster.Kind{auto.Kind} },
			"cgroups", Warn, "version 1", oldNodeImage},
		"an image of one's own": {func(d *Doctor) {
			d.Engine, d.NodeImage = found(cgroup1),
				"registry:5000/node:v1.36.3"
		}, "cgroups", Warn, "version 1", oldNodeImage},
		"an image unnamed": {func(d *Doctor) { d.Engine, d.NodeImage = found(cgroup1), "registry:5000/node" },
			"cgroups", Warn, "version 1", oldNodeImage},
		"a configured kind": {func(d *Doctor) { d.Engine, d.KindConfig = found(cgroup1), "kind.yaml" }, "cgroups",
			Warn, "version 1", oldNodeImage},
		"an old node image": {func(d *Doctor) { d.Engine, d.NodeImage = found(cgroup1), oldNodeImage+"@sha256:1.40" },
			"cgroups", OK, "1.34 takes", ""},
		"unknown cgroups": {func(d *Doctor) { d.Engine = found(engine.Engine{Name: "nerdctl"}) }, "cgroups", OK,
			"does not report", ""},
		"a full disk": {func(d *Doctor) { d.Free = free(100 * mib) }, "disk", Fail, "100 MiB free",
			"--state-dir"},
		"a narrow disk": {func(d *Doctor) { d.Free, d.Clusters = free(3*gib), []cluster.Kind{cluster.Embedded} },
			"disk", Warn, "3.0 GiB free", "go clean -cache"},
		"wide enough without": {func(d *Doctor) { d.Free, d.Clusters = free(3*gib), []cluster.Kind{cluster.None} },
			"disk", OK, "3.0 GiB free", ""},
		"an unreadable disk": {func(d *Doctor) {
			d.Free = func(context.Context, string) (uint64, error) { return 0, errors.New("stale file handle") }
		}, "disk", Warn, "stale file handle", "--state-dir"},
		"little memory": {func(d *Doctor) {
			d.Memory = func(context.Context) (uint64, error) {
				return 600 * mib,
					nil
			}
		}, "memory", Warn, "600 MiB", moreMemory},
		"hardly any memory": {func(d *Doctor) {
			d.Memory = func(context.Context) (uint64, error) {
				return 100 * mib,
					nil
			}
		}, "memory", Fail, "100 MiB", moreMemory},
		"no loopback": {func(d *Doctor) { d.Listen = func() error { return errors.New("cannot assign") } },
			"ports", Fail, "cannot assign", bringUpLoopback},
		"a proxy": {func(d *Doctor) { d.Getenv = variables("HTTP_PROXY", "http://ada:secret@proxy:3128") }, "proxy",
			Warn, "HTTP_PROXY without NO_PROXY", "export NO_PROXY"},
		"a proxy in lower case": {func(d *Doctor) { d.Getenv = variables("https_proxy", "x", "no_proxy", "127.0.0.1") },
			"proxy", Warn, "HTTPS_PROXY without", "export NO_PROXY"},
		"a proxy for others": {func(d *Doctor) {
			d.Getenv = variables("https_proxy", "x", "NO_PROXY", "example.com, localhost,127.0.0.0/8")
		}, "proxy", OK, "not for this machine", ""},
		"a missing program": {func(d *Doctor) {
			d.Programs = func() (string, error) {
				return "", &cluster.HintError{Err: errors.New("piped: /bin/piped does not exist"), Hint: "make build"}
			}
		}, "programs", Fail, "/bin/piped does not exist", "make build"},
		"no embedded Kubernetes": {func(d *Doctor) { d.Clusters, d.Embedded = one(cluster.Embedded), lost },
			"embedded Kubernetes", Fail, embedded.ErrNoProgram.Error(), "clone it"},
		"none, and auto takes kind": {func(d *Doctor) { d.Clusters, d.Embedded = one(auto.Kind), lost },
			"embedded Kubernetes", Warn, embedded.ErrNoProgram.Error(), "clone it"},
		"none, and auto without an engine": {func(d *Doctor) {
			d.Clusters, d.Embedded, d.Engine = one(auto.Kind), lost, failing(engine.ErrNone)
		}, "embedded Kubernetes", Fail, embedded.ErrNoProgram.Error(), "clone it"},
		"what it lacks": {func(d *Doctor) { d.Clusters, d.Embedded = one(cluster.Embedded), uncompiled(t) },
			"embedded cluster", OK, "DNS, ", ""},
		"one to compile": {func(d *Doctor) { d.Clusters, d.Embedded = one(cluster.Embedded), uncompiled(t) },
			"embedded Kubernetes", OK, "the first start compiles it into", ""},
		"one to compile, no go": {func(d *Doctor) {
			d.Clusters, d.Embedded, d.Run = one(cluster.Embedded), uncompiled(t), programs(nil)
		}, "embedded Kubernetes", Fail, "there is no go command", "go.dev/dl"},
		"one to compile, old go": {func(d *Doctor) {
			d.Clusters, d.Embedded = one(cluster.Embedded), uncompiled(t)
			d.Run = programs(map[string]string{"go": "go1.24.1\nlocal\n/cache\n"})
		}, "embedded Kubernetes", Fail, "compiled by go1.26.8, and there is go1.24.1", "GOTOOLCHAIN=auto"},
		"one to compile, old go that fetches": {func(d *Doctor) {
			d.Clusters, d.Embedded = one(cluster.Embedded), uncompiled(t)
			d.Run = programs(map[string]string{"go": "go1.24.1\nauto\n/cache\n"})
		}, "embedded Kubernetes", OK, "the first start compiles it", ""},
		"one to compile, no room": {func(d *Doctor) {
			d.Clusters, d.Embedded = one(cluster.Embedded), uncompiled(t)
			d.Run = programs(map[string]string{"go": "go1.26.8\nauto\n/cache\n"})
			d.Free = func(_ context.Context, dir string) (uint64, error) {
				if dir == "/cache" {
					return 900 * mib, nil
				}
				return 100 * gib, nil
			}
		}, "embedded Kubernetes", Fail, "900 MiB are free in /cache", "go clean -cache"},
		"a foreign directory": {func(d *Doctor) {
			require.NoError(t, os.MkdirAll(filepath.Join(d.StateDir, "default", "thesis"), 0o700))
		}, "state directory", Fail, "was not created by pipedeck", "choose another directory"},
		"a directory of another user": {func(d *Doctor) { d.Mount = mounted(Mount{Executable: true}) },
			"state directory", Fail, "nothing can be written", "--state-dir"},
		"a mount without programs": {func(d *Doctor) { d.Mount = mounted(Mount{Writable: true}) },
			"state directory", Fail, "noexec", "--state-dir"},
		"no git": {func(d *Doctor) { d.Run = programs(nil) }, "git", Warn, "does not run", installGit},
		"an old git": {func(d *Doctor) { d.Run = programs(map[string]string{"git": "git version 2.17.1"}) },
			"git", Warn, "2.17.1", installGit},
		"no go": {func(d *Doctor) { d.Run = programs(nil) }, "go", Warn, "does not run", "go.dev/dl"},
		"an old go": {func(d *Doctor) { d.Run = programs(map[string]string{"go": "go1.19"}) }, "go", Warn,
			"go1.19", "go.dev/dl"},
		"a dumb terminal": {func(d *Doctor) { d.Getenv = variables("TERM", "dumb") }, "terminal", Warn, "dumb",
			"--output plain"},
		"colours unwanted": {func(d *Doctor) { d.Getenv = variables("TERM", "xterm", "NO_COLOR", "1") }, "terminal", OK,
			"NO_COLOR", ""},
		"a cluster left over": {func(d *Doctor) {
			d.Run = programs(map[string]string{"docker": "pipedeck-a-0a1b2c3d-control-plane\nmine-control-plane"})
		}, "kind clusters", Warn, "knows pipedeck-a-0a1b2c3d-control-plane",
			"docker rm -f -v pipedeck-a-0a1b2c3d-control-plane ("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := healthy(t)
			c.change(d)
			got := check(t, d.Examine(t.Context()), c.check)
			require.Equal(t, c.state, got.State, "%v", got)
			require.Contains(t, got.Found, c.found)
			require.Contains(t, got.Fix, c.fix)
			require.NotContains(t, got.String()+got.Fix, "secret")
			if c.state != OK {
				require.NotEmpty(t, got.Why)
				require.NotEmpty(t, got.Fix)
			}
		})
	}
}

func TestBeforeAStartOnlyWhatMattersIsSaid(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	d.Engine = failing(errors.New("must not be asked"))
	d.Run = func(context.Context, string, ...string) ([]byte, error) { return nil, errors.New("must not be run") }
	d.Getenv = variables("HTTP_PROXY", "x", "TERM", "dumb")
	d.Clusters = []cluster.Kind{cluster.Embedded}
	found := d.Preflight(t.Context())
	require.Len(t, found, 1)
	require.Equal(t, "proxy", found[0].Name)

	d.Clusters = []cluster.Kind{cluster.Embedded, cluster.InDocker}
	check(t, d.Preflight(t.Context()), "container engine")
}

func TestACheckThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := healthy(t)
		hanging := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		d.Engine = func(ctx context.Context) (*engine.Engine, error) { return nil, hanging(ctx) }
		d.Memory = func(ctx context.Context) (uint64, error) { return 0, hanging(ctx) }
		began := time.Now()
		checks := d.Examine(t.Context())
		require.Equal(t, checkWithin, time.Since(began), "they wait side by side")
		for _, name := range []string{"container engine", "memory"} {
			c := check(t, checks, name)
			require.Equal(t, Warn, c.State)
			require.Contains(t, c.Found, "no answer within")
		}
	})
}

func TestKilledEnvironmentsAreFound(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	at := func(name string) *workspace.Workspace {
		w, err := workspace.At(d.StateDir, name)
		require.NoError(t, err)
		require.NoError(t, w.Create())
		return w
	}
	at("ended")
	require.NoError(t, at("killed").Publish(workspace.Running{PID: 4711}))
	running := at("running")
	require.NoError(t, running.Publish(workspace.Running{PID: os.Getpid()}))
	lock, err := running.Acquire()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lock.Release()) })
	// A lock exists from the first start on.
	unlock, err := at("killed").Acquire()
	require.NoError(t, err)
	require.NoError(t, unlock.Release())

	d.Orphans = func(w *workspace.Workspace) []string {
		require.Equal(t, "killed", w.Name)
		return []string{"kubernetes", "piped"}
	}
	c := check(t, d.Examine(t.Context()), "environments")
	require.Equal(t, Warn, c.State)
	require.Equal(t, "killed: killed (pid 4711 is gone; it left kubernetes, piped)", c.Found)
	require.Equal(t, "pipedeck down --name killed --state-dir "+d.StateDir, c.Fix)
}

func TestARecordedKindClusterIsNotLeftOver(t *testing.T) {
	t.Parallel()
	d := healthy(t)
	w, err := workspace.At(d.StateDir, "a")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.MkdirAll(w.ClusterDir("local"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.ClusterDir("local"), "kind.json"),
		[]byte(`{"state":"ready","cluster":"pipedeck-a-0a1b2c3d","engine":"docker"}`), 0o600))
	d.Run = programs(map[string]string{"docker": "pipedeck-a-0a1b2c3d-control-plane"})
	c := check(t, d.Examine(t.Context()), "kind clusters")
	require.Equal(t, OK, c.State, "%v", c)
	require.Equal(t, "1 node(s) of ours", c.Found)
}

func TestAFewOfManyAreNamed(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a, b, c, d, e", some([]string{"a", "b", "c", "d", "e"}))
	require.Equal(t, "a, b, c, d, e and 2 more", some([]string{"a", "b", "c", "d", "e", "f", "g"}))
}

// The real machine may lack anything: only the form of the answers is fixed.
func TestThisMachineIsExamined(t *testing.T) {
	t.Parallel()
	finder := engine.NewFinder(engine.Run, "")
	for _, kinds := range [][]cluster.Kind{{auto.Kind}, {cluster.InDocker, cluster.InDocker}, {cluster.Embedded},
		{cluster.None}} {
		d := &Doctor{System: ThisMachine(), StateDir: filepath.Join(t.TempDir(), "not", "there"), Clusters: kinds,
			Engine: finder.Find}
		checks := d.Examine(t.Context())
		for _, name := range []string{"disk", "memory", "ports", "proxy", "git", "go", "environments", "terminal"} {
			check(t, checks, name)
		}
		for _, c := range checks {
			require.Contains(t, []State{OK, Warn, Fail}, c.State)
			require.NotEmpty(t, c.Found, c.Name)
			require.Equal(t, c.State != OK, c.Why != "" && c.Fix != "", "%v", c)
		}
		for _, c := range d.Preflight(t.Context()) {
			require.NotEqual(t, OK, c.State)
		}
		require.NoDirExists(t, d.StateDir, "nothing is made")
	}
}
