// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// installed answers as commands would that are installed: by the command line, "!" marks a failure.
func installed(answers map[string]string) Command {
	return func(ctx context.Context, name string, args ...string) ([]byte, error) {
		answer, ok := answers[strings.Join(append([]string{name}, args[:1]...), " ")]
		switch {
		case !ok:
			return nil, exec.ErrNotFound
		case answer == "hang":
			<-ctx.Done()
			return nil, ctx.Err()
		case strings.HasPrefix(answer, "!"):
			return []byte(answer[1:]), errors.New("exit status 1")
		}
		return []byte(answer), nil
	}
}

const (
	dockerInfo = `{"ServerVersion":"28.2.2","CgroupVersion":"2","DockerRootDir":"/var/lib/docker",` +
		`"MemTotal":8589934592,"SecurityOptions":["name=seccomp,profile=builtin"]}`
	podmanInfo = `{"host":{"cgroupVersion":"v2","memTotal":4294967296,"security":{"rootless":true}},` +
		`"store":{"graphRoot":"/home/ada/.local/share/containers/storage"},"version":{"Version":"5.4.0"}}`
)

func TestTheEngineIsTheOneThatKindWouldUse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers map[string]string
		chosen  string
		want    Engine
	}{
		"docker": {
			map[string]string{"docker -v": "Docker version 28.2.2, build e6534b4", "docker info": dockerInfo,
				"podman -v": "podman version 5.4.0"}, "",
			Engine{Name: "docker", Version: "28.2.2", CgroupVersion: 2, Root: "/var/lib/docker", Memory: 8 << 30},
		},
		"podman under docker's name": {
			map[string]string{"docker -v": "podman version 5.4.0", "podman -v": "podman version 5.4.0",
				"podman info": podmanInfo}, "",
			Engine{Name: "podman", Version: "5.4.0", CgroupVersion: 2,
				Root: "/home/ada/.local/share/containers/storage", Memory: 4 << 30, Rootless: true},
		},
		"the chosen one": {
			map[string]string{"docker -v": "Docker version 28.2.2", "podman info": podmanInfo}, "podman",
			Engine{Name: "podman", Version: "5.4.0", CgroupVersion: 2,
				Root: "/home/ada/.local/share/containers/storage", Memory: 4 << 30, Rootless: true},
		},
		"the next one when the first is silent": {
			map[string]string{"docker -v": "Docker version 28.2.2", "docker info": `!{"ServerErrors":["no daemon"]}`,
				"podman -v": "podman version 5.4.0", "podman info": podmanInfo}, "",
			Engine{Name: "podman", Version: "5.4.0", CgroupVersion: 2,
				Root: "/home/ada/.local/share/containers/storage", Memory: 4 << 30, Rootless: true},
		},
		"an engine whose command fails once": {
			map[string]string{"docker -v": "!", "docker info": dockerInfo}, "",
			Engine{Name: "docker", Version: "28.2.2", CgroupVersion: 2, Root: "/var/lib/docker", Memory: 8 << 30},
		},
		"an engine that reports little": {
			map[string]string{"nerdctl -v": "nerdctl version 2.1.0", "nerdctl info": `{"ServerVersion":"2.1.3"}`}, "",
			Engine{Name: "nerdctl", Version: "2.1.3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := Find(t.Context(), installed(c.answers), c.chosen)
			require.NoError(t, err)
			require.Equal(t, c.want, *e)
		})
	}
}

func TestAnEngineThatIsOfNoUseIsSaidToBe(t *testing.T) {
	t.Parallel()
	_, err := Find(t.Context(), installed(nil), "")
	require.ErrorIs(t, err, ErrNone)
	_, err = Find(t.Context(), installed(nil), "moby")
	require.ErrorContains(t, err, Variable)
	for name, c := range map[string]struct{ info, says string }{
		"no server": {`!{"ServerErrors":["Cannot connect to the Docker daemon"]}`,
			"Cannot connect to the Docker daemon"},
		"no server, exit code 0": {`{"ServerErrors":["permission denied"]}`, "permission denied"},
		"no version":             {`{}`, "reports no version"},
		"failure in words":       {"!", "exit status 1"},
		"no JSON":                {"hello", "read its answer"},
		"not even its name":      {"!", "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Find(t.Context(), installed(map[string]string{"docker -v": "Docker version 1",
				"docker info": c.info}), "")
			var silent *NotAnsweringError
			require.ErrorAs(t, err, &silent)
			require.Equal(t, "docker", silent.Engine)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "\n", "one cause, not what follows from it")
		})
	}
}

func TestAnEngineThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]string{
		"when asked for its facts":   {"docker -v": "Docker version 1", "docker info": "hang"},
		"when asked for its version": {"docker -v": "hang"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				_, err := Find(t.Context(), installed(answers), "")
				var silent *NotAnsweringError
				require.ErrorAs(t, err, &silent)
				require.ErrorContains(t, err, "no answer within")
				require.Equal(t, patience, time.Since(began))

				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				_, err = Find(ctx, installed(answers), "")
				require.ErrorIs(t, err, context.Canceled, "a user does not wait for it")
			})
		})
	}
}

func TestACommandIsRunWithBounds(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), filepath.Join(t.TempDir(), "none"))
	require.Error(t, err)

	out, err := Run(t.Context(), "sh", "-c", "echo facts; echo broken >&2; exit 3")
	require.ErrorContains(t, err, "broken")
	require.Equal(t, "facts\n", string(out), "what it said may explain the failure")

	file := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(file, make([]byte, outputLimit+1), 0o600))
	out, err = Run(t.Context(), "cat", file)
	require.NoError(t, err)
	require.Equal(t, outputLimit, len(out))

	out, err = Run(t.Context(), "sh", "-c", "echo facts; sleep 3 &")
	require.NoError(t, err, "a command that succeeded has answered, although its child holds the output open")
	require.Equal(t, "facts\n", string(out))

	// The shell leaves a child that holds the output open.
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = Run(ctx, "sh", "-c", "sleep 60 & wait")
	require.Error(t, err)
	require.Less(t, time.Since(began), 30*time.Second)
}

func TestTheEngineIsAskedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var questions atomic.Int32
		slow := func(ctx context.Context, name string, args ...string) ([]byte, error) {
			if name != "docker" {
				return nil, exec.ErrNotFound
			}
			questions.Add(1)
			select {
			case <-time.After(time.Second):
				return []byte(dockerInfo), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		f := NewFinder(slow, "docker")
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := f.Find(impatient)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		var asking sync.WaitGroup
		for range 3 {
			asking.Go(func() {
				e, err := f.Find(t.Context())
				require.NoError(t, err)
				require.Equal(t, "docker 28.2.2", e.String())
			})
		}
		synctest.Wait()
		_, err = f.Find(impatient)
		require.ErrorIs(t, err, context.DeadlineExceeded, "one that waits for another may leave")
		asking.Wait()
		require.EqualValues(t, 2, questions.Load(), "the impatient one's and the first one's")
	})
}

func TestTheErrorOfACommandIsWithoutTheTemplateOfItsOutput(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"false info: exit status 1":       {"info", "--format", "{{json .}}"},
		"false info -a: exit status 1":    {"info", "--format", "{{json .}}", "-a"},
		"false: exit status 1":            {"--format"},
		"false network ls: exit status 1": {"network", "ls"},
	} {
		_, err := Run(t.Context(), "false", args...)
		require.EqualError(t, err, want)
	}
}
