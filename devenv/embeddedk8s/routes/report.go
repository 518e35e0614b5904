// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/services"
)

const (
	fieldManager = "pipedeck-routes"
	// controllerName is ours in the statuses of the Gateway API.
	controllerName = "pipedeck.dev/routes"
)

// report is what is said on an object.
type report struct {
	object interface {
		metav1.Object
		runtime.Object
	}
	resource schema.GroupVersionResource
	// hosts are those that the object makes the proxy answer for; "*": all.
	hosts   []string
	address net.Addr
	// problems are what the object asks for in vain. Each becomes an Event.
	problems []string
	// missing are backends that are not there now. Each becomes an Event whenever that begins to be so.
	missing []string
	// status is what the object's status has to have; was is what it has.
	status, was map[string]any
}

// publish writes what is not on the object yet.
func (c *Controller) publish(ctx context.Context, r report) error {
	c.warn(r)
	return errors.Join(c.annotate(ctx, r), c.writeStatus(ctx, r))
}

// warnings are problems by the object that has them.
type warnings map[types.UID]map[string]bool

// warn records Events for what is wrong now and was not before.
func (c *Controller) warn(r report) {
	uid := r.object.GetUID()
	before, now := c.warned[uid], map[string]bool{}
	for reason, problems := range map[string][]string{"NotHonoured": r.problems, backendNotFound: r.missing} {
		for _, problem := range problems {
			if now[problem] = true; !before[problem] {
				c.recorder.Event(r.object, corev1.EventTypeWarning, reason, problem)
			}
		}
	}
	if c.warned[uid] = now; len(now) == 0 {
		delete(c.warned, uid)
	}
}

func (c *Controller) annotate(ctx context.Context, r report) error {
	var annotation any // removes it
	if len(r.hosts) > 0 {
		addresses := map[string]string{}
		for _, host := range r.hosts {
			addresses[host] = r.address.String()
		}
		text, err := json.Marshal(addresses)
		if err != nil {
			return fmt.Errorf("write addresses: %w", err)
		}
		annotation = string(text)
	}
	was, has := r.object.GetAnnotations()[services.AddressesAnnotation]
	if has && annotation == was || !has && annotation == nil {
		return nil
	}
	return c.patch(ctx, r, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{services.AddressesAnnotation: annotation}},
	})
}

func (c *Controller) writeStatus(ctx context.Context, r report) error {
	for key, wanted := range r.status {
		if !reflect.DeepEqual(plain(r.was[key]), plain(wanted)) {
			return c.patch(ctx, r, map[string]any{"status": r.status}, "status")
		}
	}
	return nil
}

// plain is a value as JSON has it.
func plain(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	var result any
	if err := json.Unmarshal(text, &result); err != nil {
		return value
	}
	return result
}

func (c *Controller) patch(ctx context.Context, r report, change map[string]any, subresources ...string) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("write a change of %s: %w", r.object.GetName(), err)
	}
	_, err = c.config.Dynamic.Resource(r.resource).Namespace(r.object.GetNamespace()).Patch(ctx, r.object.GetName(),
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile
	}
	return err
}

// hostsOf are the hosts of rules, "*" for a rule of every host.
func hostsOf(rules []*rule) []string {
	var hosts []string
	for _, r := range rules {
		if len(r.hosts) == 0 {
			hosts = append(hosts, "*")
		}
		hosts = append(hosts, r.hosts...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// portError is the error of the port of an Ingress of which a backend is not there.
const portError = "pipedeck.dev/" + backendNotFound

func ingressReport(ingress *networkingv1.Ingress, rules []*rule, address net.Addr, missing []string) report {
	port := networkingv1.IngressPortStatus{
		Port: int32(address.(*net.TCPAddr).Port), Protocol: corev1.ProtocolTCP,
	}
	if len(missing) > 0 {
		reason := portError
		port.Error = &reason
	}
	status := networkingv1.IngressLoadBalancerStatus{Ingress: []networkingv1.IngressLoadBalancerIngress{{
		IP: "127.0.0.1", Ports: []networkingv1.IngressPortStatus{port},
	}}}
	return report{
		object: ingress, resource: networkingv1.SchemeGroupVersion.WithResource("ingresses"), hosts: hostsOf(rules),
		address: address, problems: ingressProblems(ingress), missing: missing,
		status: map[string]any{"loadBalancer": status},
		was:    map[string]any{"loadBalancer": ingress.Status.LoadBalancer},
	}
}

// parentStatus is what the Gateway API says of a route and one of its parents.
type parentStatus struct {
	ParentRef      parentRef          `json:"parentRef"`
	ControllerName string             `json:"controllerName"`
	Conditions     []metav1.Condition `json:"conditions"`
}

func (c *Controller) routeReport(
	object *unstructured.Unstructured, route *httpRoute, attachments []attachment, edge []*rule,
) report {
	rules, problem, unresolved := route.rules()
	gone := missing(c.services, rules)
	var known struct {
		Status struct {
			Parents []parentStatus `json:"parents"`
		} `json:"status"`
	}
	_ = read(object, &known) // a status that cannot be read is written again
	was := known.Status.Parents
	parents := slices.DeleteFunc(slices.Clone(was), func(p parentStatus) bool {
		return p.ControllerName == controllerName
	})
	for _, a := range attachments {
		if a.foreign {
			continue
		}
		status := parentStatus{ParentRef: a.ref, ControllerName: controllerName}
		for _, before := range was {
			if before.ControllerName == controllerName && reflect.DeepEqual(before.ParentRef, a.ref) {
				status.Conditions = before.Conditions
			}
		}
		set := func(kind, badReason, message string) {
			c.setCondition(&status.Conditions, object, kind, badReason, message)
		}
		switch {
		case a.reason != "":
			set("Accepted", a.reason, a.message)
		case problem != "":
			set("Accepted", "UnsupportedValue", problem)
		default:
			set("Accepted", "", "")
		}
		switch {
		case unresolved != "":
			set("ResolvedRefs", "InvalidKind", unresolved)
		case len(gone) > 0:
			set("ResolvedRefs", backendNotFound, strings.Join(gone, "; "))
		default:
			set("ResolvedRefs", "", "")
		}
		parents = append(parents, status)
	}
	return report{
		object: object, resource: httpRoutes, hosts: hostsOf(edge), address: c.config.Listener.Addr(),
		problems: route.problems(), missing: gone, status: map[string]any{"parents": parents}, was: statusOf(object),
	}
}

// setCondition sets a condition true, or false with a reason. Its time is that of its last change.
func (c *Controller) setCondition(
	conditions *[]metav1.Condition, object metav1.Object, kind, badReason, message string,
) {
	condition := metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: kind, Message: message,
		ObservedGeneration: object.GetGeneration(), LastTransitionTime: metav1.NewTime(c.config.Clock.Now()),
	}
	if badReason != "" {
		condition.Status, condition.Reason = metav1.ConditionFalse, badReason
	}
	meta.SetStatusCondition(conditions, condition)
}

func statusOf(object *unstructured.Unstructured) map[string]any {
	status, _, _ := unstructured.NestedMap(object.Object, "status")
	return status
}

// listenerStatus is what the Gateway API says of a listener.
type listenerStatus struct {
	Name           string              `json:"name"`
	AttachedRoutes int32               `json:"attachedRoutes"`
	SupportedKinds []map[string]string `json:"supportedKinds"`
	Conditions     []metav1.Condition  `json:"conditions"`
}

func (c *Controller) gatewayReport(object *unstructured.Unstructured, g *gateway, attached int32) report {
	var known struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
			Listeners  []listenerStatus   `json:"listeners"`
		} `json:"status"`
	}
	_ = read(object, &known) // a status that cannot be read is written again
	conditions := known.Status.Conditions
	message := "answers at http://" + c.config.Listener.Addr().String()
	c.setCondition(&conditions, object, "Accepted", "", "")
	c.setCondition(&conditions, object, "Programmed", "", message)
	var listeners []listenerStatus
	for _, l := range g.Spec.Listeners {
		status := listenerStatus{
			Name: l.Name, SupportedKinds: []map[string]string{{"group": gatewayGroup, "kind": "HTTPRoute"}},
		}
		for _, before := range known.Status.Listeners {
			if before.Name == l.Name {
				status.Conditions = before.Conditions
			}
		}
		unsupported, says := "", message
		if l.Protocol == "HTTP" {
			status.AttachedRoutes = attached
		} else {
			unsupported, says = "UnsupportedProtocol", l.Protocol+" is not served here, only HTTP"
		}
		c.setCondition(&status.Conditions, object, "Accepted", unsupported, says)
		c.setCondition(&status.Conditions, object, "Programmed", unsupported, says)
		c.setCondition(&status.Conditions, object, "ResolvedRefs", "", "")
		listeners = append(listeners, status)
	}
	return report{
		object: object, resource: gateways, address: c.config.Listener.Addr(), was: statusOf(object),
		status: map[string]any{
			"addresses":  []map[string]string{{"type": "IPAddress", "value": "127.0.0.1"}},
			"conditions": conditions, "listeners": listeners,
		},
	}
}
