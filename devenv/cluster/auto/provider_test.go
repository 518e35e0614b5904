// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// fake stands for one of the two providers: it leaves a file in the directory that they share.
type fake struct {
	cluster.Provider
	kind      cluster.Kind
	dir       string
	before    error
	lost      chan error
	deleteErr error
	loaded    []string
	deleted   int
}

func (f *fake) Describe() cluster.Description { return cluster.Description{Kind: f.kind} }

func (f *fake) record() string { return filepath.Join(f.dir, string(f.kind)+".record") }

func (f *fake) Run(ctx context.Context, progress cluster.Progress, ready func(string)) error {
	progress("making "+string(f.kind), 0, 0)
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(f.record(), nil, 0o600); err != nil {
		return err
	}
	if f.before != nil {
		return f.before
	}
	ready(string(f.kind) + " is there")
	select {
	case err := <-f.lost:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (f *fake) LoadImage(_ context.Context, image cluster.Image) error {
	f.loaded = append(f.loaded, image.Archive)
	return nil
}

func (f *fake) Delete(context.Context) error {
	f.deleted++
	if f.deleteErr != nil {
		return f.deleteErr
	}
	return os.RemoveAll(f.dir)
}

// stage is a provider between two fakes.
type stage struct {
	kind, embedded *fake
	engine         func(context.Context) (*engine.Engine, error)
	provider       *Provider
	ready          chan string
	ended          chan error
	stop           context.CancelFunc
	said           []string
}

func answers(context.Context) (*engine.Engine, error) {
	return &engine.Engine{Name: "docker", Version: "28.2.2"}, nil
}

func none(context.Context) (*engine.Engine, error) { return nil, engine.ErrNone }

func newStage(t *testing.T) *stage {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	return &stage{
		kind:     &fake{kind: cluster.InDocker, dir: dir, lost: make(chan error, 1)},
		embedded: &fake{kind: cluster.Embedded, dir: dir, lost: make(chan error, 1)},
		engine:   answers,
	}
}

// start runs the provider as one process of an environment does.
func (s *stage) start(t *testing.T) {
	t.Helper()
	s.provider = New(Config{
		Kind: s.kind, Embedded: s.embedded, Engine: s.engine, Dir: s.kind.dir, Kubeconfig: "kubeconfig",
		Recorded: func(string) bool {
			_, err := os.Stat(s.kind.record())
			return err == nil
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	s.ready, s.ended, s.said = make(chan string, 4), make(chan error, 1), nil
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.ended <- s.provider.Run(ctx, func(detail string, _, _ int64) { s.said = append(s.said, detail) },
			func(detail string) { s.ready <- detail })
	}()
	t.Cleanup(func() { stop(); <-done })
}

func TestKindIsChosenWhenAnEngineAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.start(t)
	require.Equal(t, "kind is there (auto chose kind: docker 28.2.2 answers)", chantest.Receive(t, s.ready))
	require.Equal(t, cluster.InDocker, s.provider.Describe().Kind)
	require.NoError(t, s.provider.LoadImage(t.Context(), cluster.Image{Archive: "image.tar"}))
	require.Equal(t, []string{"image.tar"}, s.kind.loaded)
	s.stop()
	require.NoError(t, chantest.Receive(t, s.ended))
	require.Contains(t, s.said, "kind, because docker 28.2.2 answers")
	require.NoError(t, s.provider.Delete(t.Context()))
	require.NoDirExists(t, s.kind.dir)
}

func TestTheEmbeddedKubernetesIsChosenWithoutAnEngine(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.engine = none
	require.Equal(t, Kind, New(Config{}).Describe().Kind, "nothing is chosen yet")
	s.start(t)
	require.Equal(t, "embedded is there (auto chose embedded: no kind: "+engine.ErrNone.Error()+")",
		chantest.Receive(t, s.ready))
	require.Equal(t, cluster.Embedded, s.provider.Describe().Kind)
}

func TestTheEmbeddedKubernetesTakesThePlaceOfAKindThatFails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.kind.before = &cluster.HintError{Err: errors.New("the node image cannot be pulled\nand more"), Hint: "pull it"}
	s.start(t)
	require.Equal(t, "embedded is there (auto chose embedded: kind failed: the node image cannot be pulled)",
		chantest.Receive(t, s.ready))
	require.NoFileExists(t, s.kind.record(), "what kind left is removed")
	require.FileExists(t, s.embedded.record())

	// The next run does not try again: the applications are in the embedded one.
	s.stop()
	require.NoError(t, chantest.Receive(t, s.ended))
	s.kind.before = nil
	s.start(t)
	require.Contains(t, chantest.Receive(t, s.ready), "embedded is there (auto chose embedded: kind failed")
}

func TestWhatKindLeavesBehindIsNotForgotten(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.kind.before = errors.New("the engine broke down")
	s.kind.deleteErr = errors.New("the engine does not answer")
	s.start(t)
	err := chantest.Receive(t, s.ended)
	require.ErrorIs(t, err, s.kind.before)
	require.ErrorIs(t, err, s.kind.deleteErr)
	require.Zero(t, s.embedded.deleted)
	require.ErrorIs(t, s.provider.Delete(t.Context()), s.kind.deleteErr)
	require.FileExists(t, s.kind.record(), "it shows the next attempt what to remove")
}

func TestAClusterThatIsLostIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.start(t)
	chantest.Receive(t, s.ready)
	lost := errors.New("the node is gone")
	s.kind.lost <- lost
	require.ErrorIs(t, chantest.Receive(t, s.ended), lost)
	require.Empty(t, s.ready)
	require.Zero(t, s.kind.deleted)
}

func TestAKeptEnvironmentDoesNotChangeItsKind(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.start(t)
	chantest.Receive(t, s.ready)
	s.stop()
	require.NoError(t, chantest.Receive(t, s.ended))

	s.engine = none
	s.kind.before = &cluster.HintError{Err: errors.New("docker does not answer"), Hint: "start it"}
	s.start(t)
	err := chantest.Receive(t, s.ended)
	require.ErrorContains(t, err, "docker does not answer")
	var hint *cluster.HintError
	require.ErrorAs(t, err, &hint)
	require.Equal(t, "start it; to start again without it: pipedeck down", hint.Hint)
	require.FileExists(t, s.kind.record())
	require.Zero(t, s.kind.deleted, "its applications are still there")
}

func TestAClusterThatWasAskedForByNameIsKept(t *testing.T) {
	t.Parallel()
	for kind, first := range map[cluster.Kind]func(*stage) *fake{
		cluster.InDocker: func(s *stage) *fake { return s.kind },
		cluster.Embedded: func(s *stage) *fake { return s.embedded },
	} {
		s := newStage(t)
		require.NoError(t, os.MkdirAll(s.kind.dir, 0o700))
		require.NoError(t, os.WriteFile(first(s).record(), nil, 0o600))
		s.engine = func(context.Context) (*engine.Engine, error) {
			t.Error("there is nothing to choose")
			return nil, engine.ErrNone
		}
		s.start(t)
		require.Contains(t, chantest.Receive(t, s.ready), "(auto chose "+string(kind)+": its data is here already)")
	}
}

func TestAnInterruptionIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	asked := make(chan struct{})
	s.engine = func(ctx context.Context) (*engine.Engine, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s.start(t)
	chantest.Receive(t, asked)
	require.Error(t, s.provider.LoadImage(t.Context(), cluster.Image{Archive: "image.tar"}))
	s.stop()
	require.NoError(t, chantest.Receive(t, s.ended))
	require.NoDirExists(t, s.kind.dir)
}

func TestAChoiceThatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"no JSON": "{", "unknown kind": `{"kind":"moon"}`, "too large": string(make([]byte, maxChoice+1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			require.NoError(t, os.MkdirAll(s.kind.dir, 0o700))
			require.NoError(t, os.WriteFile(choiceFile(s.kind.dir), []byte(content), 0o600))
			s.start(t)
			err := chantest.Receive(t, s.ended)
			require.ErrorContains(t, err, choiceFile(s.kind.dir))
			var hint *cluster.HintError
			require.ErrorAs(t, err, &hint)
		})
	}
}

func TestAReasonIsPartOfALine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "no image a/b:v1 here",
		short(errors.New("no image a/b:v1@sha256:"+strings.Repeat("0", 64)+" here\nsecond line")))
	require.Equal(t, strings.Repeat("ö", maxReason/2)+"…", short(errors.New(strings.Repeat("ö", maxReason))))
}

func FuzzDecodeChoice(f *testing.F) {
	f.Add([]byte(`{"kind":"kind","why":"docker answers"}`))
	f.Add([]byte(`{"kind":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeChoice("file", data)
		if err == nil {
			require.Contains(t, []cluster.Kind{cluster.InDocker, cluster.Embedded}, c.Kind)
		}
	})
}
