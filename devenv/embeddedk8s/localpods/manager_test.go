// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// patience bounds every wait.
const patience = time.Minute

// testImage is the image of testdata/container.
const testImage = "pipedeck.dev/container:v1"

// built is the program of testImage, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "localpods-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "container")
	output, err := exec.Command("go", "build", "-o", path, "./testdata/container").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveGRPC {
		answerHealthChecks()
		return
	}
	code := m.Run()
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// cluster is a Manager with what it needs.
type cluster struct {
	*Manager
	objects *fakeObjects
	dir     string

	mu     sync.Mutex
	events []string
}

// listed is a list of programs.
type listed map[string]programs.Program

func (l listed) Find(image string) (programs.Program, bool) { p, ok := l[image]; return p, ok }

func (l listed) Check(p programs.Program) error {
	if p.SHA256 == "changed" {
		return errors.New("the program has changed since it was listed")
	}
	return nil
}

// fakeObjects are the objects of namespace default.
type fakeObjects struct {
	mu      sync.Mutex
	configs map[string]map[string]string
	tokens  int
}

func (o *fakeObjects) ClaimDirectory(context.Context, string, string) (string, error) {
	return "", claims.ErrPending
}

func (f *fakeObjects) set(name string, data map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.configs[name] = data
}

func (f *fakeObjects) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if data, ok := f.configs[name]; ok {
		return &corev1.ConfigMap{Data: data}, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
}

func (f *fakeObjects) Secret(_ context.Context, _, name string) (*corev1.Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, ok := f.configs[name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	secret := &corev1.Secret{Data: map[string][]byte{}}
	for key, value := range data {
		secret.Data[key] = []byte(value)
	}
	return secret, nil
}

func (f *fakeObjects) Token(context.Context, *corev1.Pod, string, int64) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens++
	return fmt.Sprintf("token-%d", f.tokens), nil
}

// newCluster runs pods until the end of the test.
func newCluster(t *testing.T, change ...func(*Config, *programs.Program)) *cluster {
	t.Helper()
	return clusterIn(t, t.TempDir(), change...)
}

func clusterIn(t *testing.T, dir string, change ...func(*Config, *programs.Program)) *cluster {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	c := &cluster{objects: &fakeObjects{configs: map[string]map[string]string{}}, dir: dir}
	program := programs.Program{Image: testImage, Path: path, HonoursPort: true, Entrypoint: "/app"}
	config := Config{
		Dir: dir, NodeName: "embedded", Objects: c.objects,
		Changed: func(types.NamespacedName) {},
		Event: func(_ *corev1.Pod, _, reason, message string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.events = append(c.events, reason+": "+message)
		},
	}
	for _, change := range change {
		change(&config, &program)
	}
	config.Programs = listed{testImage: program}
	c.Manager, err = New(config)
	require.NoError(t, err)
	t.Cleanup(sync.OnceFunc(c.Close))
	t.Cleanup(func() {
		if t.Failed() {
			c.mu.Lock()
			defer c.mu.Unlock()
			t.Logf("events:\n%s", strings.Join(c.events, "\n"))
		}
	})
	return c
}

// said reports whether there was an event that contains a text.
func (c *cluster) said(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, event := range c.events {
		if strings.Contains(event, text) {
			return true
		}
	}
	return false
}

// newPodOf has one container, main, that does steps.
func newPodOf(name string, steps ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": name},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyAlways, NodeName: "embedded",
			Containers: []corev1.Container{{Name: "main", Image: testImage, Args: steps}},
		},
	}
}

// await waits until the status of a pod is as wanted and returns it.
func (c *cluster) await(t *testing.T, pod *corev1.Pod, what string, wanted func(Status) bool) Status {
	t.Helper()
	var status Status
	c.eventually(t, what, func() bool {
		status, _ = c.Status(pod.UID)
		return wanted(status)
	})
	return status
}

func (c *cluster) eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-deadline:
			require.FailNow(t, "not within "+patience.String()+": "+what)
		case <-ticker.C:
		}
	}
}

// output is what the current run of a container has written.
func (c *cluster) output(t *testing.T, pod *corev1.Pod, container string, previous bool) string {
	t.Helper()
	output, err := c.Output(pod.UID, container, previous)
	if err != nil {
		return ""
	}
	var text strings.Builder
	for _, file := range output.Files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(content)) {
			text.WriteString(strings.SplitN(line, " ", 4)[3])
		}
	}
	return text.String()
}

func isReady(status Status) bool { return len(status.Containers) > 0 && status.Containers[0].Ready }

func hasEnded(status Status) bool { return status.Ended }

// deleted is the pod after its deletion.
func deleted(pod *corev1.Pod, grace int64) *corev1.Pod {
	gone := pod.DeepCopy()
	now := metav1.Now()
	gone.DeletionTimestamp, gone.DeletionGracePeriodSeconds = &now, &grace
	return gone
}

func fetch(url string) (string, error) {
	response, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// gone reports whether no process of a group is left.
func gone(pid int) bool { return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH) }
