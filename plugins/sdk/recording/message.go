// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"

	// Their messages are looked up by name.
	_ "google.golang.org/grpc/health/grpc_health_v1"

	_ "github.com/pipedeck/pipedeck/api/agent/v1"
	_ "github.com/pipedeck/pipedeck/api/plugin/deployment"
	_ "github.com/pipedeck/pipedeck/api/plugin/planpreview"
	_ "github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// Message returns an empty request (input) or answer of a full gRPC method, such as /package.Service/Method. It knows
// the methods between piped and plugins.
func Message(path string, input bool) (proto.Message, error) {
	method, err := methodOf(path)
	if err != nil {
		return nil, err
	}
	of := method.Output()
	if input {
		of = method.Input()
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName())
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", path, err)
	}
	return kind.New().Interface(), nil
}

func methodOf(path string) (protoreflect.MethodDescriptor, error) {
	name := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "."))
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return nil, fmt.Errorf("method %s is not known: %w", path, err)
	}
	method, ok := descriptor.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a method", path)
	}
	return method, nil
}

// streams is whether a method gives several answers.
func streams(path string) bool {
	method, err := methodOf(path)
	return err == nil && method.IsStreamingServer()
}

// maskStrings replaces texts in every field.
func maskStrings(message protoreflect.Message, mask func(string) string) {
	value := func(kind protoreflect.Kind, v protoreflect.Value, put func(protoreflect.Value)) {
		switch kind {
		case protoreflect.MessageKind, protoreflect.GroupKind:
			maskStrings(v.Message(), mask)
		case protoreflect.StringKind:
			if masked := mask(v.String()); masked != v.String() {
				put(protoreflect.ValueOfString(strings.ToValidUTF8(masked, "\uFFFD")))
			}
		case protoreflect.BytesKind:
			if masked := mask(string(v.Bytes())); masked != string(v.Bytes()) {
				put(protoreflect.ValueOfBytes([]byte(masked)))
			}
		}
	}
	message.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.IsMap():
			v.Map().Range(func(key protoreflect.MapKey, inner protoreflect.Value) bool {
				value(field.MapValue().Kind(), inner, func(w protoreflect.Value) { v.Map().Set(key, w) })
				return true
			})
		case field.IsList():
			for i := range v.List().Len() {
				value(field.Kind(), v.List().Get(i), func(w protoreflect.Value) { v.List().Set(i, w) })
			}
		default:
			value(field.Kind(), v, func(w protoreflect.Value) { message.Set(field, w) })
		}
		return true
	})
}

// ClearIdentity empties the fields of an answer that differ from run to run: ids and times. The ids of resources become
// numbers: they may differ, too, but not which of them are empty, equal, or the parents of others.
func ClearIdentity(message protoreflect.Message) {
	if answer, is := message.Interface().(*livestate.GetLivestateResponse); is {
		numberResources(answer.GetApplicationLiveState().GetResources())
	}
	resource := message.Descriptor().FullName() == (&model.ResourceState{}).ProtoReflect().Descriptor().FullName()
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "id" && !resource || field.Name() == "created_at" || field.Name() == "updated_at":
			message.Clear(field)
		case field.IsList() && field.Message() != nil:
			for i := range value.List().Len() {
				ClearIdentity(value.List().Get(i).Message())
			}
		case field.Message() != nil && !field.IsMap():
			ClearIdentity(value.Message())
		}
		return true
	})
}

// numberResources gives each id of resources the number of the resource that has it first.
func numberResources(resources []*model.ResourceState) {
	numbers := map[string]string{"": ""}
	for i, r := range resources {
		if _, known := numbers[r.GetId()]; !known {
			numbers[r.GetId()] = fmt.Sprintf("resource %d", i+1)
		}
	}
	for _, r := range resources {
		r.Id = numbers[r.GetId()]
		for i, parent := range r.GetParentIds() {
			if number, known := numbers[parent]; known {
				r.ParentIds[i] = number
			} else {
				r.ParentIds[i] = "a resource that is not listed"
			}
		}
	}
}
