// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/programs"
)

// stopGrace is how long all pods together have to end when the cluster stops; then they are killed.
const stopGrace = time.Second

// Programs are the images that may run: *programs.Set.
type Programs interface {
	Find(image string) (programs.Program, bool)
	// Check returns an error when the program must not be started.
	Check(p programs.Program) error
}

// Services knows the Services of the cluster. Their listeners are on this machine.
type Services interface {
	// Environment returns the variables by which the containers of a namespace find its Services.
	Environment(namespace string) map[string]string
	// Retire returns once no new connection goes to a pod, and those that it has were answered; soon in any case.
	Retire(ctx context.Context, podIP string)
}

// Config is what a Manager stands on.
type Config struct {
	// Dir holds a folder for each pod, named by its UID. It is created for its owner only.
	Dir      string
	NodeName string
	Programs Programs
	// Services may be nil: then pods know no Services, and end at once.
	Services Services
	Objects  Objects
	// Changed is called when the status of a pod has changed. It must not block.
	Changed func(pod types.NamespacedName)
	// Event records an event of a pod.
	Event func(pod *corev1.Pod, kind, reason, message string)
}

// Manager runs pods. Its methods may be called from any goroutine.
type Manager struct {
	config Config
	token  string // in the marks of all processes
	host   *containers.Host
	ports  *containers.Ports
	// listeners shows who listens at a port.
	listeners *containers.Listeners
	groups    *containers.Groups
	probes    *prober
	ctx       context.Context
	cancel    context.CancelFunc

	mu   sync.RWMutex
	pods map[types.UID]*pod
	byIP map[string]*pod
}

// New ends the processes that a killed Manager on the same directory has left, and returns a new one.
func New(config Config) (*Manager, error) {
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of pods: %w", err)
	}
	groups := containers.NewGroups(config.Dir)
	host, err := containers.NewHost(filepath.Join(config.Dir, recordsDir))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Manager{
		config: config, token: rand.Text(), host: host,
		ports: containers.NewPorts(), listeners: containers.NewListeners(),
		groups: groups,
		probes: newProber(), ctx: ctx, cancel: cancel,
		pods: map[types.UID]*pod{}, byIP: map[string]*pod{},
	}, nil
}

// recordsDir is the folder of records; no UID has this name.
const recordsDir = "processes"

// Sweep removes the folders of pods that are not there any more. It is called before the first Run.
func (m *Manager) Sweep(there func(types.UID) bool) error {
	entries, err := os.ReadDir(m.config.Dir)
	if err != nil {
		return fmt.Errorf("look for the folders of deleted pods: %w", err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != recordsDir && name != containers.GroupFile && !there(types.UID(name)) {
			if err := removeTree(filepath.Join(m.config.Dir, name)); err != nil {
				return fmt.Errorf("remove the folder of a deleted pod: %w", err)
			}
		}
	}
	return nil
}

// Run starts a pod, or gives a running one its new version. The address is the pod's own one.
func (m *Manager) Run(of *corev1.Pod, address string) {
	m.mu.Lock()
	p := m.pods[of.UID]
	if p == nil && m.ctx.Err() == nil {
		p = newPod(m, of, address)
		m.pods[of.UID], m.byIP[address] = p, p
		go p.run()
	}
	m.mu.Unlock()
	if p != nil {
		p.update(of)
	}
}

// Runs reports whether the pod was given to Run.
func (m *Manager) Runs(uid types.UID) bool { return m.find(uid) != nil }

func (m *Manager) find(uid types.UID) *pod {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.pods[uid]
}

// Status returns how a pod fares; ok is false for one that Run does not know.
func (m *Manager) Status(uid types.UID) (status Status, ok bool) {
	p := m.find(uid)
	if p == nil {
		return Status{}, false
	}
	return p.status(), true
}

// ObjectChanged has the pods of a namespace look at their volumes again.
func (m *Manager) ObjectChanged(namespace string) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, p := range m.pods {
		p.objectChanged(namespace)
	}
}

// Forget ends a pod that is gone from the API at once, if it still runs, and removes its folder.
func (m *Manager) Forget(uid types.UID) {
	m.mu.Lock()
	p := m.pods[uid]
	if p != nil {
		delete(m.pods, uid)
		if m.byIP[p.address] == p {
			delete(m.byIP, p.address)
		}
	}
	m.mu.Unlock()
	if p != nil {
		p.abandon()
	}
}

// HostPort returns where a pod's port answers on this machine. The error says why no process of the pod answers there.
func (m *Manager) HostPort(podIP string, port int32) (hostPort string, err error) {
	m.mu.RLock()
	p := m.byIP[podIP]
	m.mu.RUnlock()
	if p == nil {
		return "", errNoPod
	}
	number, err := p.places.find(port)
	if err != nil {
		return "", err
	}
	return loopback(number), nil
}

var errNoPod = errors.New("it does not run as a process of this machine")

// Close ends all pods and returns when their processes have ended.
func (m *Manager) Close() {
	m.cancel()
	m.mu.Lock()
	all := make([]*pod, 0, len(m.pods))
	for _, p := range m.pods {
		all = append(all, p)
	}
	m.mu.Unlock()
	for _, p := range all {
		<-p.done
	}
	m.probes.close()
	m.host.Close()
	m.groups.Close()
}
