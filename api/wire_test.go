// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"encoding/json"
	"os"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	_ "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	_ "github.com/pipedeck/pipedeck/api/plugin/deployment"
	_ "github.com/pipedeck/pipedeck/api/plugin/livestate"
	_ "github.com/pipedeck/pipedeck/api/plugin/planpreview"
	_ "github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

type wireType struct {
	Type     string `json:"type"`
	TypeName string `json:"type_name"`
}

type wireFacts struct {
	Messages map[string]struct {
		Fields []struct {
			wireType
			Name       string `json:"name"`
			JSONName   string `json:"json_name"`
			Number     int32  `json:"number"`
			Label      string `json:"label"`
			Deprecated bool   `json:"deprecated"`
			Map        *struct{ Key, Value wireType }
		} `json:"fields"`
		Reserved []json.RawMessage `json:"reserved_numbers"`
	} `json:"messages"`
	Enums map[string]struct {
		Values []struct {
			Name   string `json:"name"`
			Number int32  `json:"number"`
		} `json:"values"`
	} `json:"enums"`
	Services map[string]struct {
		Methods []struct {
			Name            string `json:"name"`
			Input           string `json:"input"`
			Output          string `json:"output"`
			ClientStreaming bool   `json:"client_streaming"`
			ServerStreaming bool   `json:"server_streaming"`
		} `json:"methods"`
	} `json:"services"`
}

func facts(t *testing.T) wireFacts {
	t.Helper()
	data, err := os.ReadFile("testdata/wire.json")
	if err != nil {
		t.Fatal(err)
	}
	var f wireFacts
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Messages) == 0 || len(f.Enums) == 0 || len(f.Services) == 0 {
		t.Fatalf("%d messages, %d enums and %d services are too few", len(f.Messages), len(f.Enums), len(f.Services))
	}
	return f
}

// same reports a difference; the test goes on. A module for tests would be in the module graph of every plugin.
func same[T comparable](t *testing.T, want, got T, what string) {
	t.Helper()
	if want != got {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}

func find[D protoreflect.Descriptor](t *testing.T, name string) D {
	t.Helper()
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	found, ok := d.(D)
	if !ok {
		t.Fatalf("%s is a %T", name, d)
	}
	return found
}

func TestEveryMessageHasPipeCDsFields(t *testing.T) {
	t.Parallel()
	for name, want := range facts(t).Messages {
		message := find[protoreflect.MessageDescriptor](t, name)
		same(t, len(want.Fields), message.Fields().Len(), "number of fields of "+name)
		for _, field := range want.Fields {
			got := message.Fields().ByNumber(protoreflect.FieldNumber(field.Number))
			where := name + "." + field.Name
			if got == nil {
				t.Errorf("%s has no field %d", where, field.Number)
				continue
			}
			same(t, field.Name, string(got.Name()), where)
			same(t, field.JSONName, got.JSONName(), where)
			same(t, field.Label, label(got), where)
			if field.Map != nil {
				same(t, field.Map.Key, typeOf(got.MapKey()), where)
				same(t, field.Map.Value, typeOf(got.MapValue()), where)
				continue
			}
			same(t, field.wireType, typeOf(got), where)
		}
	}
}

func TestEveryEnumHasPipeCDsValues(t *testing.T) {
	t.Parallel()
	for name, want := range facts(t).Enums {
		enum := find[protoreflect.EnumDescriptor](t, name)
		same(t, len(want.Values), enum.Values().Len(), name)
		for _, value := range want.Values {
			got := enum.Values().ByName(protoreflect.Name(value.Name))
			if got == nil {
				t.Errorf("%s has no value %s", name, value.Name)
			} else {
				same(t, value.Number, int32(got.Number()), name+"."+value.Name)
			}
		}
	}
}

func TestEveryServiceHasPipeCDsMethods(t *testing.T) {
	t.Parallel()
	for name, want := range facts(t).Services {
		service := find[protoreflect.ServiceDescriptor](t, name)
		same(t, len(want.Methods), service.Methods().Len(), name)
		for _, method := range want.Methods {
			got := service.Methods().ByName(protoreflect.Name(method.Name))
			if got == nil {
				t.Errorf("%s has no method %s", name, method.Name)
				continue
			}
			same(t, method.Input, string(got.Input().FullName()), method.Name)
			same(t, method.Output, string(got.Output().FullName()), method.Name)
			same(t, method.ClientStreaming, got.IsStreamingClient(), method.Name)
			same(t, method.ServerStreaming, got.IsStreamingServer(), method.Name)
		}
	}
}

func label(field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		return "map"
	case field.IsList():
		return "repeated"
	default:
		return "singular"
	}
}

func typeOf(field protoreflect.FieldDescriptor) wireType {
	switch field.Kind() {
	case protoreflect.MessageKind:
		return wireType{"message", string(field.Message().FullName())}
	case protoreflect.EnumKind:
		return wireType{"enum", string(field.Enum().FullName())}
	default:
		return wireType{Type: field.Kind().String()}
	}
}
