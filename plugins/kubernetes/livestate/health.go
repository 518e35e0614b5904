// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// maxDescription bounds what is reported of one object, in bytes: the last line of a container that crashes, and what
// stands around it.
const maxDescription = 1536

// healthOf judges one object, and says why when it is not healthy. What is on its way is unhealthy until it has
// arrived. kstatus decides, but for the kinds that it finds good whatever their status says.
// event is what the newest Event says of an object whose status does not say why it waits; empty for none.
func healthOf(o *unstructured.Unstructured, event string) (sdk.HealthStatus, string) {
	if o.GetDeletionTimestamp() != nil {
		return sdk.Unhealthy, shorten(deletion(o))
	}
	if hook := hookState(o); hook != "" { // it is no part of what runs, and its stage has reported how it ended
		return sdk.Healthy, shorten(hook)
	}
	if isReplaced(o) {
		return sdk.Healthy, shorten(podProblem(o) + "; what made it goes on without it")
	}
	if isSuspended(o) {
		return sdk.Healthy, "is suspended (spec.suspend)"
	}
	if problem := problemOf(o, event); problem != "" {
		return sdk.Unhealthy, shorten(problem)
	}
	result, err := computeByHand(o)
	switch {
	case err != nil:
		return sdk.HealthUnknown, shorten("its status cannot be read: " + err.Error())
	case result.Status == status.CurrentStatus:
		return sdk.Healthy, keeps(o)
	case result.Status == status.UnknownStatus:
		return sdk.HealthUnknown, shorten(result.Message)
	}
	return sdk.Unhealthy, shorten(said(paused(o), result.Message+since(o, "Available", "Ready")))
}

// hookState is how far a hook is that has an end: "helm.sh/hook: pre-upgrade; it has failed". Empty for other objects.
func hookState(o *unstructured.Unstructured) string {
	hook := phase.HookOf(o)
	if hook == "" || !phase.Runs(manifest.Manifest{Unstructured: o}) {
		return ""
	}
	result, err := status.Compute(o)
	switch {
	case err != nil:
		return hook
	case result.Status == status.FailedStatus, text(o, "status", "phase") == "Failed":
		return hook + "; it has failed"
	case text(o, "status", "phase") == "Succeeded", firstOf(o, "True", "Complete") != "":
		return hook + "; it has succeeded"
	case isSuspended(o):
		return hook + "; it is suspended (spec.suspend) and does not run"
	}
	return hook + "; it runs"
}

// problemOf looks for problems that kstatus does not see.
func problemOf(o *unstructured.Unstructured, event string) string {
	switch kind := o.GroupVersionKind().GroupKind(); kind.String() {
	case "Pod":
		return podProblem(o)
	case "Service":
		if text(o, "spec", "type") == "LoadBalancer" && !hasAddress(o) {
			return said("no load balancer has given it an address since it was created at "+created(o), event)
		}
	case "PersistentVolumeClaim":
		return claimProblem(o, event)
	case "PersistentVolume":
		if text(o, "status", "phase") == "Failed" {
			return said("the volume could not be reclaimed", text(o, "status", "reason"), text(o, "status", "message"))
		}
	case "ReplicationController":
		if refused := firstOf(o, "True", "ReplicaFailure"); refused != "" {
			return refused
		}
		wanted, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		if ready, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas"); ready < wanted {
			return fmt.Sprintf("%d of %d pods are ready", ready, wanted)
		}
	case "Ingress.networking.k8s.io":
		if !hasAddress(o) {
			return said("no ingress controller has given it an address since it was created at "+created(o), event)
		}
		return portProblem(o)
	case "HorizontalPodAutoscaler.autoscaling":
		o = withConditions(o)
		if bad := firstOf(o, "False", "AbleToScale"); bad != "" || hasReason(o, "ScalingDisabled") {
			return bad // a target without replicas is switched off, which is no fault
		}
		return firstOf(o, "False", "ScalingActive")
	case "PodDisruptionBudget.policy":
		healthy, _, _ := unstructured.NestedInt64(o.Object, "status", "currentHealthy")
		desired, _, _ := unstructured.NestedInt64(o.Object, "status", "desiredHealthy")
		if healthy < desired {
			return fmt.Sprintf("%d of %d needed pods are healthy", healthy, desired) +
				since(o, "DisruptionAllowed")
		}
	case "Deployment.apps", "ReplicaSet.apps":
		return firstOf(o, "True", "ReplicaFailure")
	case "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "CronJob.batch":
		return ""
	default:
		return conventional(o)
	}
	return ""
}

// deletion says since when an object is being deleted, and what holds it.
func deletion(o *unstructured.Unstructured) string {
	since := o.GetDeletionTimestamp().UTC().Format(time.RFC3339)
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		return "is Terminating, held by the finalizer " + strings.Join(finalizers, ", ") + " since " + since
	}
	if o.GetKind() != "Namespace" {
		return "is Terminating since " + since
	}
	// Its finalizers are those of its content, which it counts.
	return said("is Terminating since "+since, firstOf(o, "True", "NamespaceFinalizersRemaining",
		"NamespaceContentRemaining", "NamespaceDeletionContentFailure", "NamespaceDeletionDiscoveryFailure"))
}

// claimProblem says why a claim has no volume: by its newest Event, or as far as the claim itself shows that.
func claimProblem(o *unstructured.Unstructured, event string) string {
	switch text(o, "status", "phase") {
	case "Lost":
		return said("its volume is lost", event)
	case "Pending":
		return "is pending since " + created(o) + ": " + cmp.Or(event, claimWaits(o))
	}
	return ""
}

// claimWaits says what a claim waits for.
func claimWaits(o *unstructured.Unstructured) string {
	class, named, _ := unstructured.NestedString(o.Object, "spec", "storageClassName")
	switch {
	case text(o, "spec", "volumeName") != "":
		return "waits for the volume " + text(o, "spec", "volumeName")
	case !named:
		return "names no storage class, and the cluster has no default one"
	case class == "":
		return "waits for a volume without a storage class that fits"
	}
	return "waits for a volume of the storage class " + class
}

// created is when an object was created.
func created(o *unstructured.Unstructured) string {
	return o.GetCreationTimestamp().UTC().Format(time.RFC3339)
}

// isReplaced reports failed pods whose owner makes others in their place, so that the owner reports how it lives:
// evicted ones, and attempts of jobs.
func isReplaced(o *unstructured.Unstructured) bool {
	if o.GetKind() != "Pod" || text(o, "status", "phase") != "Failed" {
		return false
	}
	for _, owner := range o.GetOwnerReferences() {
		switch owner.Kind {
		case "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job":
			return true
		}
	}
	return false
}

// isSuspended reports whether a Job is not to run now: kstatus takes it for one that is about to begin.
func isSuspended(o *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend")
	return suspended && o.GetKind() == "Job" && text(o, "status", "startTime") == ""
}

func hasAddress(o *unstructured.Unstructured) bool {
	addresses, _, err := unstructured.NestedSlice(o.Object, "status", "loadBalancer", "ingress")
	return err == nil && len(addresses) > 0
}

// podProblem names the container that cannot run: kstatus only says that the pod is not ready.
func podProblem(o *unstructured.Unstructured) string {
	if text(o, "status", "phase") == "Failed" {
		return said("the pod has failed", text(o, "status", "reason"), text(o, "status", "message"))
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		containers, _, _ := unstructured.NestedSlice(o.Object, "status", list)
		for _, each := range containers {
			container, _ := each.(map[string]any)
			reason, _, _ := unstructured.NestedString(container, "state", "waiting", "reason")
			if reason == "" || reason == "ContainerCreating" || reason == "PodInitializing" {
				continue
			}
			message, _, _ := unstructured.NestedString(container, "state", "waiting", "message")
			name, _ := container["name"].(string)
			if last := lastEnd(container); reason == "CrashLoopBackOff" && last != "" {
				message = last // which says more than for how long the kubelet waits
			}
			return said("container "+name, reason+since(o, "ContainersReady", "Ready"), message)
		}
	}
	return unscheduled(o)
}

// lastEnd says how a container ended the last time, with its last line.
func lastEnd(container map[string]any) string {
	end, found, _ := unstructured.NestedMap(container, "lastState", "terminated")
	if !found {
		return ""
	}
	code, _, _ := unstructured.NestedInt64(end, "exitCode")
	how := fmt.Sprintf("last exit code %d", code)
	if reason, _ := end["reason"].(string); reason != "" && reason != "Error" {
		how += " (" + reason + ")"
	}
	message, _ := end["message"].(string)
	return said(how, cluster.LastLine(message))
}

// unscheduled says why no node takes a pod.
func unscheduled(o *unstructured.Unstructured) string {
	problem := firstOf(o, "False", "PodScheduled")
	_, why, _ := strings.Cut(problem, ": ")
	if problem == "" {
		return ""
	}
	return said("cannot be scheduled"+since(o, "PodScheduled"), why)
}

func text(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedString(o.Object, path...)
	return value
}

func shorten(s string) string {
	if len(s) <= maxDescription {
		return s
	}
	return strings.ToValidUTF8(s[:maxDescription], "") + "…"
}
