// A lit, textured surface that breathes along its normals. Written as for Direct3D 11: row vectors, column-major matrices.
//
//     fxc -T vs_5_0 -E VSMain lit.hlsl -Fo lit_vs.dxbc
//     fxc -T ps_5_0 -E PSMain lit.hlsl -Fo lit_ps.dxbc
//     dxc -T vs_6_0 -E VSMain lit.hlsl -Fo lit_vs.dxil
//     dxc -T ps_6_0 -E PSMain lit.hlsl -Fo lit_ps.dxil

cbuffer PerFrame : register(b0)
{
    float4x4 g_ViewProjection;
    float3 g_CameraPosition;
    float g_Time;
};

cbuffer PerObject : register(b1)
{
    float4x4 g_World;
    float4x4 g_WorldInverseTranspose;
};

struct Light
{
    float3 Direction; // the way the light travels
    float Intensity;
    float3 Color;
    float SpecularPower;
};

cbuffer Material : register(b2)
{
    float3 Ambient;
    float Breath; // how far the surface moves
    Light Lights[3];
    int LightCount;
    float2 Tiling;
};

Texture2D<float4> Albedo : register(t0); // rgb: colour, a: gloss
SamplerState Linear : register(s0);

struct VSInput
{
    float3 Position : POSITION;
    float3 Normal : NORMAL;
    float2 TexCoord : TEXCOORD0;
};

struct PSInput
{
    float4 Position : SV_Position;
    float3 WorldPosition : TEXCOORD0;
    float3 Normal : NORMAL;
    float2 TexCoord : TEXCOORD1;
};

PSInput VSMain(VSInput input)
{
    float phase = dot(input.Position, float3(3.0, 5.0, 4.0)) + 2.0 * g_Time;
    float3 moved = input.Position + input.Normal * (Breath * sin(phase));
    float4 world = mul(float4(moved, 1.0), g_World);

    PSInput output;
    output.Position = mul(world, g_ViewProjection);
    output.WorldPosition = world.xyz;
    output.Normal = mul(input.Normal, (float3x3)g_WorldInverseTranspose);
    output.TexCoord = input.TexCoord * Tiling;
    return output;
}

float4 PSMain(PSInput input) : SV_Target
{
    float4 surface = Albedo.Sample(Linear, input.TexCoord);
    float3 normal = normalize(input.Normal);
    float3 toCamera = normalize(g_CameraPosition - input.WorldPosition);

    float3 color = surface.rgb * Ambient;
    for (int i = 0; i < LightCount; i++)
    {
        float3 toLight = -normalize(Lights[i].Direction);
        float diffuse = dot(normal, toLight);
        if (diffuse <= 0.0)
            continue;
        float3 halfway = normalize(toLight + toCamera);
        float specular = surface.a * pow(saturate(dot(normal, halfway)), Lights[i].SpecularPower);
        color += Lights[i].Color * (Lights[i].Intensity * (surface.rgb * diffuse + specular));
    }
    return float4(color, 1.0);
}
