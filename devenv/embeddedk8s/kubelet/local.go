// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

const (
	// LocalKey is "true" as an annotation of every pod that runs as processes of this machine.
	LocalKey = "pipedeck.dev/local"
	// AddressesKey is an annotation of such a pod: a JSON object from its ports to addresses of this machine, as in
	// {"8080":"127.0.0.1:30123"}.
	AddressesKey = "pipedeck.dev/addresses"
	// MemoryKey is an annotation of such a pod that has a limit of memory: the means by which it holds, "cgroup v2",
	// "cgroup v1", "checked every second" or "none".
	MemoryKey = "pipedeck.dev/memory-limit"
	// CPUKey is an annotation of such a pod that has a limit of processors: "none", because it does not hold.
	CPUKey = "pipedeck.dev/cpu-limit"
)

// runPods makes what runs pods as processes.
func (k *Kubelet) runPods() error {
	recorder := k.events.NewRecorder(scheme.Scheme,
		corev1.EventSource{Component: "local-kubelet", Host: k.config.NodeName})
	manager, err := localpods.New(localpods.Config{
		Dir: k.config.PodsDir, NodeName: k.config.NodeName, Programs: k.config.Programs, Services: k.config.Services,
		Objects: objects{k.config.Client, k.config.VolumesDir}, Changed: k.queue.Add,
		Event: func(pod *corev1.Pod, kind, reason, message string) { recorder.Event(pod, kind, reason, message) },
	})
	if err != nil {
		return err
	}
	k.local = manager
	core := k.config.Informers.Core().V1()
	for _, informer := range []cache.SharedIndexInformer{
		core.ConfigMaps().Informer(), core.Secrets().Informer(), core.PersistentVolumeClaims().Informer(),
	} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) { k.objectChanged(before, after) },
		}); err != nil {
			manager.Close()
			return fmt.Errorf("watch the objects that pods refer to: %w", err)
		}
	}
	return nil
}

func (k *Kubelet) objectChanged(before, after any) {
	if old, changed := before.(metav1.Object), after.(metav1.Object); old.GetResourceVersion() !=
		changed.GetResourceVersion() {
		k.local.ObjectChanged(changed.GetNamespace())
	}
}

// sweepPods removes what deleted pods have left on disk.
func (k *Kubelet) sweepPods() error {
	if k.local == nil {
		return nil
	}
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	there := map[types.UID]bool{}
	for _, pod := range pods {
		there[pod.UID] = true
	}
	return k.local.Sweep(func(uid types.UID) bool { return there[uid] })
}

// Local is what runs pods as processes; nil when every pod is simulated.
func (k *Kubelet) Local() *localpods.Manager { return k.local }

// HostPort returns where a port of a pod answers on this machine, as in 127.0.0.1:30123. The error says why no process
// of the pod answers there.
func (k *Kubelet) HostPort(podIP string, port int32) (hostPort string, err error) {
	if k.local == nil {
		return "", errSimulated
	}
	return k.local.HostPort(podIP, port)
}

var errSimulated = errors.New("all pods are simulated")

func (k *Kubelet) runs(pod *corev1.Pod) bool { return k.local != nil && k.local.Runs(pod.UID) }

// runsLocally reports whether a pod runs as processes: it does already, or it can and was not simulated before.
func (k *Kubelet) runsLocally(pod *corev1.Pod) bool {
	return k.local != nil && k.whySimulated(pod) == ""
}

// whySimulated says why a pod does not run as processes. It is empty for one that does, and where no pod does.
func (k *Kubelet) whySimulated(pod *corev1.Pod) string {
	switch mode := podMode(pod); {
	case k.local == nil, k.local.Runs(pod.UID):
		return ""
	case mode != Healthy:
		return fmt.Sprintf("annotation %s=%s asks for it", ModeAnnotation, mode)
	case k.simulated.is(pod.UID) && created(pod):
		return cmp.Or(pod.Annotations[ReasonKey], "it was simulated before")
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range containers {
			if imageMode(container.Image) != Healthy {
				return fmt.Sprintf("image %s does not exist", container.Image)
			}
		}
	}
	if err := k.local.Suits(pod); err != nil {
		return err.Error()
	}
	return ""
}

// created reports whether a container of the pod was shown as one that has run.
func created(pod *corev1.Pod) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if status.ContainerID != "" {
			return true
		}
	}
	return false
}

// runLocal has the pod run, and writes how it fares when that has changed.
func (k *Kubelet) runLocal(ctx context.Context, pod *corev1.Pod) error {
	address, err := k.addresses.of(pod.UID, pod.Status.PodIP)
	if err != nil {
		return err
	}
	if current, err := k.pods.Pods(pod.Namespace).Get(pod.Name); err != nil || current.UID != pod.UID {
		k.addresses.release(pod.UID) // deleted meanwhile, so that forget may have come before
		return nil
	}
	k.local.Run(pod, address)
	return k.writeLocal(ctx, pod, address)
}

// endLocal has a deleted pod end, and ends its deletion when nothing of it runs any more.
func (k *Kubelet) endLocal(ctx context.Context, pod *corev1.Pod) error {
	address, err := k.addresses.of(pod.UID, pod.Status.PodIP)
	if err != nil {
		return err
	}
	k.local.Run(pod, address)
	status, _ := k.local.Status(pod.UID)
	if err := k.writeLocal(ctx, pod, address); err != nil || !status.Ended {
		return err
	}
	return k.remove(ctx, pod)
}

func (k *Kubelet) writeLocal(ctx context.Context, pod *corev1.Pod, address string) error {
	status, ok := k.local.Status(pod.UID)
	if !ok {
		return nil
	}
	pod, err := k.annotate(ctx, pod, map[string]string{
		LocalKey: "true", AddressesKey: status.Addresses, MemoryKey: status.Memory, CPUKey: status.CPU,
	})
	if err != nil {
		return err
	}
	return k.write(ctx, pod, outcome{status: assessLocal(pod, address, status, k.config.Clock.Now())})
}

// assessLocal is the status of a pod whose containers fare so.
func assessLocal(pod *corev1.Pod, address string, local localpods.Status, now time.Time) corev1.PodStatus {
	status, view := beginStatus(pod, address, nil, now)
	view.blocked, view.unready = !local.Initialized, local.Unready
	status.InitContainerStatuses, status.ContainerStatuses = local.Init, local.Containers
	status.Phase = view.phase(status.ContainerStatuses)
	if local.Failed {
		status.Phase = corev1.PodFailed
		if !local.Ended {
			status.Phase = corev1.PodRunning
		}
		status.Reason, status.Message = local.Reason, local.Message
	}
	status.Conditions = setListening(view.conditions(status), pod.Generation, local.Ports, view.now)
	return status
}

// annotate gives a pod our annotations that are not empty, takes the others away, and returns it as it is then.
func (k *Kubelet) annotate(ctx context.Context, pod *corev1.Pod, wanted map[string]string) (*corev1.Pod, error) {
	changes := map[string]any{}
	for _, key := range []string{SimulatedKey, ReasonKey, LocalKey, AddressesKey, MemoryKey, CPUKey} {
		now, has := pod.Annotations[key]
		switch value := wanted[key]; {
		case value == "" && has:
			changes[key] = nil
		case value != now:
			changes[key] = value
		}
	}
	if len(changes) == 0 {
		return pod, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "annotations": changes}})
	if err != nil {
		return nil, err
	}
	return k.config.Client.CoreV1().Pods(pod.Namespace).Patch(
		ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
}

// simulatedPods are the pods that were simulated since this process has started: they stay simulated.
type simulatedPods struct {
	mu   sync.Mutex
	uids map[types.UID]bool
}

func (s *simulatedPods) add(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uids == nil {
		s.uids = map[types.UID]bool{}
	}
	s.uids[uid] = true
}

func (s *simulatedPods) is(uid types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uids[uid]
}

func (s *simulatedPods) forget(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uids, uid)
}
