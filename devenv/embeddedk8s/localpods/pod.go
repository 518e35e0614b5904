// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/claims"
)

// prepareRetry is the pause before another try to make what a pod or a container needs, such as a ConfigMap that is
// not there yet.
const prepareRetry = 2 * time.Second

// pod is one pod that runs. Its goroutine looks at everything after each change; what is not shared is its own.
type pod struct {
	manager *Manager
	uid     types.UID
	address string
	dir     string
	places  *places
	wake    chan struct{}
	done    chan struct{} // closed when the goroutine has ended: no process is left

	now      *corev1.Pod
	started  time.Time
	all      []*container // init containers first
	prepared bool
	writers  map[string]*volumeutil.AtomicWriter // of the volumes that are made of objects
	tokens   map[tokenKey]token
	ready    bool // init containers have ended, sidecars have started
	over     bool // nothing is started any more
	ending   *ending
	next     time.Time // when to look again without a change; zero: never

	shared
}

// shared is what others give to a pod's goroutine, and what it shows them.
type shared struct {
	mu        sync.Mutex
	latest    *corev1.Pod
	abandoned bool
	stale     bool // an object that the volumes are made of has changed
	shown     Status
	running   map[string]*run // by the name of the container
}

func newPod(m *Manager, of *corev1.Pod, address string) *pod {
	p := &pod{
		manager: m, uid: of.UID, address: address, dir: filepath.Join(m.config.Dir, string(of.UID)),
		wake: make(chan struct{}, 1), done: make(chan struct{}), started: time.Now(), now: of,
		tokens: map[tokenKey]token{}, shared: shared{latest: of}, places: newPlaces(m.listeners, of),
	}
	if of.Status.StartTime != nil {
		p.started = of.Status.StartTime.Time
	}
	for i := range of.Spec.InitContainers {
		p.all = append(p.all, newContainer(p, &of.Spec.InitContainers[i], true, of.Status.InitContainerStatuses))
	}
	for i := range of.Spec.Containers {
		p.all = append(p.all, newContainer(p, &of.Spec.Containers[i], false, of.Status.ContainerStatuses))
	}
	for _, c := range p.all {
		c.carryOn(of)
	}
	p.shown = p.describe()
	return p
}

func (p *pod) name() types.NamespacedName {
	return types.NamespacedName{Namespace: p.now.Namespace, Name: p.now.Name}
}

func (p *pod) update(latest *corev1.Pod) {
	p.mu.Lock()
	p.latest = latest
	p.mu.Unlock()
	p.look()
}

// abandon ends the pod at once and removes its folder.
func (p *pod) abandon() {
	p.mu.Lock()
	p.abandoned = true
	p.mu.Unlock()
	p.look()
}

func (p *pod) objectChanged(namespace string) {
	p.mu.Lock()
	mine := p.latest.Namespace == namespace
	p.stale = p.stale || mine
	p.mu.Unlock()
	if mine {
		p.look()
	}
}

// look makes the goroutine look at the pod.
func (p *pod) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pod) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// run looks at the pod until it is abandoned or the cluster stops.
func (p *pod) run() {
	defer close(p.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.manager.ctx.Done():
			p.shutDown()
			return
		case <-p.wake:
		case <-timer.C:
		}
		if p.step(time.Now()) {
			p.remove()
			return
		}
		if !p.next.IsZero() {
			timer.Reset(max(time.Until(p.next), time.Millisecond))
		}
	}
}

// step does what can be done now. It reports whether the pod was abandoned and its last process has ended.
func (p *pod) step(now time.Time) (gone bool) {
	p.mu.Lock()
	p.now = p.latest
	abandoned, stale := p.abandoned, p.stale
	p.stale = false
	p.mu.Unlock()
	p.next = time.Time{}
	for _, c := range p.all {
		c.collect(now)
	}
	switch {
	case abandoned:
		p.over = true
		return p.killAll()
	case p.ending != nil || p.now.DeletionTimestamp != nil:
		p.end(now)
	case !p.over:
		p.keepVolumes(now, stale)
		p.advance(now)
	}
	p.publish()
	return false
}

// again asks for another look at a time; the soonest counts.
func (p *pod) again(at time.Time) {
	if p.next.IsZero() || at.Before(p.next) {
		p.next = at
	}
}

// advance starts what has to run.
func (p *pod) advance(now time.Time) {
	if deadline, ok := p.deadline(); ok {
		if !now.Before(deadline) {
			p.fail("DeadlineExceeded", "Pod was active on the node longer than the specified deadline", now)
			return
		}
		p.again(deadline)
	}
	if !p.prepare(now) {
		return
	}
	for _, c := range p.all {
		if !c.init {
			continue
		}
		c.keep(now)
		if c.failedForGood() {
			p.fail("", "", now)
			return
		}
		if !c.passed() {
			return
		}
	}
	p.ready = true
	running := false
	for _, c := range p.all {
		if c.init {
			continue
		}
		c.keep(now)
		running = running || c.finished == nil
	}
	if !running { // only sidecars are left
		p.ending = newEnding(p.graceOf(p.now))
		p.end(now)
	}
}

func (p *pod) deadline() (time.Time, bool) {
	if seconds := p.now.Spec.ActiveDeadlineSeconds; seconds != nil {
		return p.started.Add(time.Duration(*seconds) * time.Second), true
	}
	return time.Time{}, false
}

// fail ends the pod as a failed one. The reason may be empty.
func (p *pod) fail(reason, message string, now time.Time) {
	p.ending = newEnding(p.graceOf(p.now))
	p.ending.failed, p.ending.reason, p.ending.message = true, reason, message
	if reason != "" {
		p.event(corev1.EventTypeNormal, reason, message)
	}
	p.end(now)
}

// prepare makes the pod's folder and its volumes; false when that has to be tried again.
func (p *pod) prepare(now time.Time) bool {
	if p.prepared {
		return true
	}
	if err := p.makeVolumes(); err != nil {
		if !errors.Is(err, claims.ErrPending) { // its own Events say why
			p.event(corev1.EventTypeWarning, "FailedMount", err.Error())
		}
		for _, c := range p.all {
			c.waiting = corev1.ContainerStateWaiting{Reason: c.waiting.Reason, Message: err.Error()}
		}
		p.again(now.Add(prepareRetry))
		return false
	}
	p.prepared = true
	warnOfLimits(p)
	warnOfIgnored(p)
	return true
}

// publish shows the status to others, and reports it when it has changed.
func (p *pod) publish() {
	status := p.describe()
	running := map[string]*run{}
	for _, c := range p.all {
		if c.run != nil {
			running[c.spec.Name] = c.run
		}
	}
	p.mu.Lock()
	p.running = running
	changed := !equality.Semantic.DeepEqual(status, p.shown)
	p.shown = status
	p.mu.Unlock()
	if changed {
		p.manager.config.Changed(p.name())
	}
}

func (p *pod) event(kind, reason, message string) {
	p.manager.config.Event(p.now, kind, reason, message)
}

// killAll ends all processes at once and reports whether none is left.
func (p *pod) killAll() bool {
	none := true
	for _, c := range p.all {
		if c.run != nil {
			none = false
			c.run.process.Kill()
		}
	}
	return none
}

// shutDown ends all processes because the cluster stops.
func (p *pod) shutDown() {
	for _, c := range p.all {
		if c.run != nil {
			c.run.process.Terminate(syscall.SIGTERM)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	for _, c := range p.all {
		if c.run == nil {
			continue
		}
		select {
		case <-c.run.process.Ended():
		case <-ctx.Done():
			c.run.process.Kill()
			<-c.run.process.Ended()
		}
		c.release()
	}
}

// remove gives back what the pod had.
func (p *pod) remove() {
	for _, c := range p.all {
		c.release()
	}
	if err := removeTree(p.dir); err != nil {
		p.event(corev1.EventTypeWarning, "FailedCleanup", fmt.Sprintf("The folder of the pod stays: %v", err))
	}
}

// removeTree removes a folder, also when a program has made a folder in it that cannot be written to.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
